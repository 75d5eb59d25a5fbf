"""pretrain, finetune and evaluate from end to end, on files of a few lines."""

import json
import re
from pathlib import Path

import pytest

from npbert import BertForSequenceClassification
from npbert.cli import main
from npbert.io.lines import METRICS_FILE, read_json_lines
from tests.training.tiny import RESULTS, results

pytestmark = pytest.mark.usefixtures("here")

SMALL = "--max-length 20 --batch-size 4 --log-every 1"
PRETRAIN = f"pretrain run --corpus corpus.txt --vocabulary checkpoint --model checkpoint --steps 6 {SMALL}"
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
    assert re.fullmatch(r"corpus.txt: \d+ bytes of text, in 1 file with 6 documents in all", lines[0])
    assert lines[1].endswith("; it starts from checkpoint")
    assert "6 steps of 4 sequences of up to 20 tokens" in lines
    assert list(numbers) == ["loss", "mlm loss", "mlm accuracy", "nsp loss", "nsp accuracy"]
    assert re.search(r"^held out +model +knowing frequencies$", out, re.MULTILINE)
    assert lines[-1] == "after 6 steps; the model of step 6 is in run/model"
    assert re.findall(r"^step (\d): held out: loss [\d.]+, mlm loss", out, re.MULTILINE) == ["3", "6"]
    assert all(Path("run", name).is_file() for name in RESULTS)
    last = read_json_lines(Path("run", METRICS_FILE))[-1]
    for name, (own, *_) in numbers.items():
        assert round(last[f"eval_{name.replace(' ', '_')}"], 4) == own
    assert table(run("evaluate run held_out.txt")) == numbers
    row = json.loads(run("evaluate run held_out.txt --json"))
    assert list(row) == ["files", *(name.replace(" ", "_") for name in numbers), "baselines"]
    before = results(Path("run"))
    assert table(run("pretrain run --resume")) == numbers, "a finished run"
    assert results(Path("run")) == before
    for other in ("held_out.txt corpus.txt", "held_out.txt --max-length 12"):
        assert table(run(f"evaluate run {other}")) != numbers


def test_finetune(capsys):
    """--quiet leaves the results."""
    assert main(f"{FINETUNE} --held-out dev.tsv".split()) == 0
    out, err = capsys.readouterr()
    new = "classifier.weight, classifier.bias (not from checkpoint/model.safetensors)"
    assert err == f"npbert: the head is new and needs training: {new}\n"
    assert out.startswith("train.tsv: 24 examples\ndev.tsv: 24 examples, for an evaluation every 2 steps\nthe first: ")
    assert "\nlabels: no, yes\n6 steps of 4 examples\n" in out and "processes" not in out
    numbers = table(out)
    assert list(numbers) == ["accuracy", "macro f1", "matthews", "f1", "loss"]
    assert re.search(r"^held out +model +always the same answer$", out, re.MULTILINE)
    assert re.fullmatch(r"after 6 steps; the model of step [246] is in tuned/model", out.splitlines()[-1])
    assert BertForSequenceClassification.from_pretrained("tuned/model").config.id2label == ("no", "yes")

    before = results(Path("tuned"))
    assert main(["finetune", "tuned", "--resume"]) == 0, "a finished run, whose head is not new any more"
    again, err = capsys.readouterr()
    assert (table(again), err, results(Path("tuned"))) == (numbers, "", before)
    assert "24 examples" not in again
    assert main(["finetune", "tuned", "--resume", "-q"]) == 0
    assert capsys.readouterr() == (out[out.index("held out  ") :], "")

    assert main(["evaluate", "tuned", "dev.tsv", "train.tsv"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^(\S+) +model +always the same answer$", out, re.MULTILINE) == ["dev.tsv", "train.tsv"]
    assert table(out.partition("label  ")[0]) == numbers
    assert re.findall(r"^  (no|yes) +(?:\d\.\d{4} +){3}\d+$", out, re.MULTILINE) == ["no", "yes"] * 2


def test_epochs_another_task_and_a_file_that_is_called_corpus(run):
    """Which kind of run it is, is not to be read out of the names of files."""
    Path("corpus.tsv").write_text("the bad cow\tsees\tfinds\t0\na cat\thears\tthe\t1\n" * 12, encoding="utf-8")
    files = "--train corpus.tsv --held-out corpus.tsv"
    options = "--epochs 0.5 --task multiple-choice --label 3 --choices 1 2"
    out = run(f"finetune tuned --model checkpoint {files} {options} {SMALL}")
    assert "after 3 steps" in out, "24 rows are 6 batches of 4"
    assert list(table(out)) == ["accuracy", "loss"]
    assert table(run("evaluate tuned corpus.tsv")) == table(out)
    assert "after 4 steps" in run("finetune tuned --resume --steps 4")
    assert "after 6 steps" in run("finetune tuned --resume --epochs 1")


def test_examples_are_enough_to_learn_from(npbert, monkeypatch):
    """And what is there already stays."""
    Path("new").mkdir()
    monkeypatch.chdir("new")
    Path("dev.tsv").write_text("question\tWho?\nstatement\tI.\n", encoding="utf-8")
    written = npbert("examples", ".").out.decode().split()
    assert written == ["books/one.txt", "books/two.txt", "dev.tsv", "held-out.txt", "sentences.txt", "train.tsv"]
    assert Path("dev.tsv").read_text(encoding="utf-8").startswith("question\tWho?")
    assert npbert("vocab", "books", "--output", "vocabulary").status == 0
    size = "--steps 1 --batch-size 4 --log-every 1"
    pretrain = f"pretrain run --corpus books --held-out held-out.txt --vocabulary vocabulary --model bert-tiny {size}"
    assert npbert(*pretrain.split()).err == "", "no passage is in both"
    finetune = f"finetune classifier --model run/model --train train.tsv --held-out dev.tsv --text 1 --label 0 {size}"
    assert "labels: question, statement" in npbert(*finetune.split()).out.decode()
