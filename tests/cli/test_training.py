"""pretrain, finetune and evaluate from end to end, on files of a few lines."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from npbert import BertForPreTraining, BertForSequenceClassification, Tokenizer
from npbert.cli import main
from npbert.io.json_lines import LAYERS_FILE, METRICS_FILE, SHOWN_FILE, read_json_lines
from npbert.training.finetune import FinetuneSettings
from npbert.training.session import LOCK_FILE
from npbert.training.settings import SETTINGS_FILE, load_settings
from npbert.training.state import STATE_FILE
from tests.training.tiny import results

pytestmark = pytest.mark.usefixtures("here")

SMALL = "--max-length 20 --batch-size 4 --log-every 1"
PRETRAIN = f"pretrain run --corpus corpus.txt --vocabulary checkpoint --model checkpoint --steps 6 {SMALL}"
FILES = {SETTINGS_FILE, STATE_FILE, METRICS_FILE, LAYERS_FILE, SHOWN_FILE, LOCK_FILE, "model", "tensorboard"}
FINETUNE = f"finetune tuned --model checkpoint --train train.tsv --steps 6 {SMALL}"


@pytest.fixture
def run(capsys):
    """run("evaluate …") -> what a command that ends well prints."""

    def run(command):
        capsys.readouterr()
        assert main(command.split()) == 0
        return capsys.readouterr().out

    return run


def table(text):
    """The numbers in the table that a command prints, by name."""
    rows = re.findall(r"^  (\w[\w ]*?)(?: \(of '\w+'\))? +(-?[\d.]+|nan)(?: +(-?[\d.]+))?$", text, re.MULTILINE)
    return {name: [float(value) for value in values if value] for name, *values in rows}


def test_pretrain(run):
    out = run(f"{PRETRAIN} --held-out held_out.txt --evaluate-every 3")
    lines, numbers = out.splitlines(), table(out)
    text = Path("corpus.txt").read_text(encoding="utf-8")
    assert lines[0] == f"corpus.txt: {len(text)} bytes of text, in 1 file with 6 documents in all"
    assert lines[1] == f"the first sentence: {text.splitlines()[0]}"
    assert lines[2].endswith("; it starts from checkpoint")
    assert "6 steps of 4 sequences of up to 20 tokens" in lines
    assert list(numbers) == ["loss", "mlm loss", "mlm accuracy", "nsp loss", "nsp accuracy"]
    assert re.search(r"^held out +model +knowing frequencies$", out, re.MULTILINE)
    assert (numbers["nsp loss"][1] <= np.log(2) + 1e-4) and numbers["nsp accuracy"][1] >= 0.5
    assert lines[-1] == "after 6 steps; the model of step 6 is in run/model"
    assert re.findall(r"^step (\d): held out: loss [\d.]+, mlm loss", out, re.MULTILINE) == ["3", "6"]
    assert {file.name for file in Path("run").iterdir()} == FILES
    last = read_json_lines(Path("run", METRICS_FILE))[-1]
    assert {name: round(last[f"eval_{name.replace(' ', '_')}"], 4) for name in numbers} == {
        name: values[0] for name, values in numbers.items()
    }
    BertForPreTraining.from_pretrained("run/model")
    assert len(Tokenizer.from_pretrained("run/model")) == 30
    assert table(run("evaluate run held_out.txt")) == numbers
    row = json.loads(run("evaluate run held_out.txt --json"))
    assert list(row) == ["files", *(name.replace(" ", "_") for name in numbers), "baselines"]
    assert [round(row[name], 4) for name in row["baselines"]] == [
        numbers[name.replace("_", " ")][0] for name in row["baselines"]
    ]
    before = results(Path("run"))
    assert table(run("pretrain run --resume")) == numbers, "a finished run"
    assert results(Path("run")) == before
    for other in ("held_out.txt corpus.txt", "held_out.txt --max-length 12"):
        assert table(run(f"evaluate run {other}")) != numbers


@pytest.mark.parametrize(
    ("options", "names"),
    [("--objective none --held-out held_out.txt --whole-words --document-per-file", ["loss", "accuracy"]), ("", [])],
)
def test_pretrain_for_another_objective_or_without_held_out_text(options, names, run):
    out = run(f"{PRETRAIN} --steps 1 {options}")
    assert list(table(out)) == names
    assert out.endswith("after 1 step; the model of step 1 is in run/model\n")
    assert list(table(run("evaluate run held_out.txt")))[: len(names)] == names


def test_finetune(capsys):
    assert main(f"{FINETUNE} --held-out dev.tsv".split()) == 0
    out, err = capsys.readouterr()
    new = "classifier.weight, classifier.bias (not from checkpoint/model.safetensors)"
    assert err == f"npbert: the head is new and needs training: {new}\n"
    first, label = Path("train.tsv").read_text(encoding="utf-8").splitlines()[0].split("\t")
    assert out.splitlines()[:5] == [
        "train.tsv: 24 examples",
        "dev.tsv: 24 examples, for an evaluation every 2 steps",
        f"the first: [CLS] {first} [SEP]  ->  {label}",
        "labels: no, yes",
        "6 steps of 4 examples",
    ]
    assert "processes" not in out, "it is one process"
    numbers = table(out)
    assert list(numbers) == ["accuracy", "macro f1", "matthews", "f1", "loss"]
    assert re.search(r"^held out +model +always the same answer$", out, re.MULTILINE)
    assert re.fullmatch(r"after 6 steps; the model of step [246] is in tuned/model", out.splitlines()[-1])
    assert {file.name for file in Path("tuned").iterdir()} == FILES
    assert BertForSequenceClassification.from_pretrained("tuned/model").config.id2label == ("no", "yes")

    before = results(Path("tuned"))
    assert main(["finetune", "tuned", "--resume"]) == 0, "a finished run, whose head is not new any more"
    again, err = capsys.readouterr()
    assert (table(again), err, results(Path("tuned"))) == (numbers, "", before)

    assert main(["evaluate", "tuned", "dev.tsv", "train.tsv"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^(\S+) +model +always the same answer$", out, re.MULTILINE) == ["dev.tsv", "train.tsv"]
    assert table(out.partition("label  ")[0]) == numbers
    assert re.findall(r"^  (no|yes) +(?:\d\.\d{4} +){3}\d+$", out, re.MULTILINE) == ["no", "yes"] * 2
    rows = [line.split("\t") for line in Path("dev.tsv").read_text(encoding="utf-8").splitlines()]
    Path("turned.csv").write_text("".join(f"7,{label},{text}\n" for text, label in rows), encoding="utf-8")
    assert main(["evaluate", "tuned", "turned.csv", "--text", "2", "--label", "1"]) == 0, "a file of another form"
    assert table(capsys.readouterr().out.partition("label  ")[0]) == numbers


def test_quiet_is_quiet(capsys):
    assert main([*FINETUNE.split(), "--steps", "1", "--quiet"]) == 0
    assert capsys.readouterr() == ("after 1 step; the model of step 1 is in tuned/model\n", "")


def test_epochs_and_a_file_that_is_called_corpus(run):
    """Which kind of run it is, is not to be read out of the names of files."""
    Path("train.tsv").rename("corpus.tsv")
    out = run(FINETUNE.replace("train.tsv", "corpus.tsv").replace("--steps 6", "--epochs 0.5"))
    assert "after 3 steps" in out, "24 rows are 6 batches of 4"
    assert load_settings(FinetuneSettings, Path("tuned", SETTINGS_FILE)).steps == 0
    assert "accuracy" in table(run("evaluate tuned dev.tsv"))


def test_finetune_for_another_task(run):
    """(For the others: test_task_folder.py, and tests/training/tasks.)"""
    Path("t.tsv").write_text("the bad cow\tsees\tfinds\t0\na cat\thears\tthe\t1\n" * 4, encoding="utf-8")
    options = "--steps 1 --task multiple-choice --label 3 --choices 1 2"
    found = table(run(f"{FINETUNE} --train t.tsv --held-out t.tsv {options}"))
    assert list(found) == ["accuracy", "loss"]
    assert table(run("evaluate tuned t.tsv")) == found
