"""pretrain, finetune and evaluate from end to end, on files of a few lines."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from npbert import BertForPreTraining, BertForSequenceClassification, Tokenizer
from npbert.cli import main
from npbert.training.finetune import FinetuneSettings
from npbert.training.log import METRICS_FILE, read_metrics
from npbert.training.plot import PLOT_FILE
from npbert.training.pretrain import PretrainSettings
from npbert.training.run_folder import LOCK_FILE
from npbert.training.settings import SETTINGS_FILE, load_settings, save_settings
from npbert.training.state import STATE_FILE
from tests.training.tiny import ADJECTIVES, results, sentence, write_checkpoint, write_corpus, write_labelled

OUTPUT = {SETTINGS_FILE, STATE_FILE, METRICS_FILE, LOCK_FILE, "model", "tensorboard"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with all that is needed, in which the commands are given."""
    monkeypatch.chdir(tmp_path)
    write_corpus(Path("corpus.txt"))
    write_corpus(Path("held_out.txt"), seed=1)
    write_checkpoint(Path("checkpoint"))
    write_labelled(Path("train.tsv"))
    write_labelled(Path("dev.tsv"), seed=1)


@pytest.fixture
def no_picture(monkeypatch):
    monkeypatch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)


SMALL = "--max-length 20 --batch-size 4 --log-every 1"
PRETRAIN = f"pretrain run --corpus corpus.txt --vocabulary checkpoint --model checkpoint --steps 6 {SMALL}"
FINETUNE = f"finetune tuned --model checkpoint --train train.tsv --steps 6 {SMALL}"


def run(command: str) -> int:
    return main(command.split())


def table(text: str) -> dict[str, list[float]]:
    """The numbers in the table that a command prints, by name."""
    rows = re.findall(r"^  (\w[\w ]*?) +(-?[\d.]+|nan)(?: +(-?[\d.]+))?$", text, re.MULTILINE)
    return {name: [float(value) for value in values if value] for name, *values in rows}


def test_pretrain(capsys):
    assert run(f"{PRETRAIN} --held-out held_out.txt --evaluate-every 3") == 0
    out, err = capsys.readouterr()
    assert err == ""
    numbers = table(out)
    assert list(numbers) == ["loss", "mlm loss", "mlm accuracy", "nsp loss", "nsp accuracy"]
    assert all(len(values) == 2 for values in numbers.values())
    assert re.search(r"^held out +model +knowing frequencies$", out, re.MULTILINE)
    for column in (0, 1):
        parts = numbers["mlm loss"][column] + numbers["nsp loss"][column]
        assert numbers["loss"][column] == pytest.approx(parts, abs=2e-4)
    assert numbers["nsp loss"][1] <= np.log(2) + 1e-4
    assert numbers["nsp accuracy"][1] >= 0.5
    assert out.splitlines()[-1] == "after 6 steps; the model of step 6 is in run/model"
    assert re.findall(r"^step (\d): held out: loss [\d.]+, mlm loss", out, re.MULTILINE) == ["3", "6"]

    assert {file.name for file in Path("run").iterdir()} == OUTPUT | {PLOT_FILE}
    last = read_metrics(Path("run", METRICS_FILE))[-1]
    assert {name.replace("eval_", "").replace("_", " "): round(value, 4) for name, value in last.items()} == {
        "step": 6,
        **{name: values[0] for name, values in numbers.items()},
    }
    BertForPreTraining.from_pretrained("run/model")
    assert len(Tokenizer.from_pretrained("run/model")) == 30

    assert run("evaluate run held_out.txt") == 0
    assert table(capsys.readouterr().out) == numbers
    assert run("evaluate run held_out.txt corpus.txt") == 0
    assert table(capsys.readouterr().out) != numbers


def test_what_is_read_is_said_first(capsys, no_picture):
    assert run(f"{FINETUNE} --held-out dev.tsv") == 0
    first, label = Path("train.tsv").read_text(encoding="utf-8").splitlines()[0].split("\t")
    assert capsys.readouterr().out.splitlines()[:5] == [
        "train.tsv: 24 examples",
        "dev.tsv: 24 examples, to judge the model by",
        f"the first: [CLS] {first} [SEP]  ->  {label}",
        "labels: no, yes",
        "6 steps of 4 examples",
    ]
    assert run(PRETRAIN) == 0
    sentence = Path("corpus.txt").read_text(encoding="utf-8").splitlines()[0]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "corpus.txt: 0.0 MB of text, in 1 files with 6 documents in all"
    assert lines[1] == f"the first sentence: {sentence}"
    assert lines[3] == "6 steps of 4 sequences of up to 20 tokens"


@pytest.mark.parametrize(
    ("objective", "names"),
    [("sop", ["loss", "mlm loss", "mlm accuracy", "sop loss", "sop accuracy"]), ("none", ["loss", "accuracy"])],
)
def test_pretrain_for_other_objectives(objective, names, capsys, no_picture):
    options = f"--objective {objective} --held-out held_out.txt --whole-words --document-per-file"
    assert run(f"{PRETRAIN} {options}") == 0
    assert list(table(capsys.readouterr().out)) == names
    assert run("evaluate run held_out.txt") == 0


def test_pretrain_without_held_out_text(capsys, no_picture):
    assert run(PRETRAIN) == 0
    out = capsys.readouterr().out
    assert "held out" not in out
    assert out.endswith("after 6 steps; the model of step 6 is in run/model\n")


def test_finetune(capsys):
    assert run(f"{FINETUNE} --held-out dev.tsv") == 0
    out, err = capsys.readouterr()
    assert err == "npbert: not from checkpoint/model.safetensors, but new: classifier.weight, classifier.bias\n"
    numbers = table(out)
    assert list(numbers) == ["accuracy", "macro f1", "matthews", "f1"]
    assert re.search(r"^held out +model$", out, re.MULTILINE)
    assert out.splitlines()[-1] == "after 6 steps; the model of step 6 is in tuned/model"
    assert {file.name for file in Path("tuned").iterdir()} == OUTPUT | {PLOT_FILE}
    assert BertForSequenceClassification.from_pretrained("tuned/model").config.id2label == ("no", "yes")

    for folder, options in (("tuned", ""), ("tuned/model", "--max-length 20")):
        assert run(f"evaluate {folder} dev.tsv train.tsv {options}") == 0
        out = capsys.readouterr().out
        assert re.findall(r"^(\S+) +model$", out, re.MULTILINE) == ["dev.tsv", "train.tsv"]
        assert table(out.partition("train.tsv")[0]) == numbers


def test_epochs_say_how_many_steps(capsys, no_picture):
    command = FINETUNE.replace("--steps 6", "--epochs 1.5")
    assert run(command) == 0
    assert "after 9 steps" in capsys.readouterr().out, "24 rows are 6 batches of 4"
    assert load_settings(FinetuneSettings, Path("tuned", SETTINGS_FILE)).steps == 0


def test_files_whose_names_hold_the_word_corpus(capsys, no_picture):
    """Which kind of run it is, is not to be read out of the names of files."""
    Path("corpus.tsv").write_bytes(Path("train.tsv").read_bytes())
    assert run(FINETUNE.replace("train.tsv", "corpus.tsv")) == 0
    assert run("evaluate tuned dev.tsv") == 0
    assert "accuracy" in table(capsys.readouterr().out)


def test_judged_by_a_file_of_another_form(capsys, no_picture):
    """Options say what the file looks like; all else is as the run was set up."""
    assert run(f"{FINETUNE} --held-out dev.tsv") == 0
    numbers = table(capsys.readouterr().out)
    rows = [line.split("\t") for line in Path("dev.tsv").read_text(encoding="utf-8").splitlines()]
    write_rows("turned.csv", [["7", label, text] for text, label in rows], by=",")
    assert run("evaluate tuned turned.csv --text 2 --label 1") == 0
    assert table(capsys.readouterr().out) == numbers


def write_rows(path: str, rows: list[list[Any]], by: str = "\t") -> None:
    Path(path).write_text("".join(by.join(map(str, row)) + "\n" for row in rows), encoding="utf-8")


def _pairs(rng: Any) -> str:
    write_rows("t.csv", [["a", "b", "same"], *([sentence(rng), sentence(rng), i % 2] for i in range(8))], by=",")
    return "t.csv --text a --text-pair b --label same"


def _numbers(rng: Any) -> str:
    write_rows("t.tsv", [[sentence(rng), i / 4] for i in range(8)])
    return "t.tsv --task regression"


def _choices(rng: Any) -> str:
    write_rows("t.tsv", [[sentence(rng), sentence(rng), sentence(rng), i % 2] for i in range(8)])
    return "t.tsv --task multiple-choice --label 3 --choices 1 2"


def _tags(rng: Any) -> str:
    def tag(word: str) -> str:
        return "B-ADJ" if word in ADJECTIVES else "O"

    rows = [[*([word, tag(word)] for word in sentence(rng).split()), []] for _ in range(8)]
    write_rows("t.conll", [row for words in rows for row in words], by=" ")
    return "t.conll --task tagging"


def _questions(rng: Any) -> str:
    qas = []
    for number in range(8):
        text = sentence(rng)
        answer = {"text": text.split()[2], "answer_start": text.index(text.split()[2])}
        qas.append({"context": text, "qas": [{"id": str(number), "question": "who sees", "answers": [answer]}]})
    Path("t.json").write_text(json.dumps({"data": [{"paragraphs": qas}]}), encoding="utf-8")
    return "t.json --task squad --max-length 32"


TASKS = {
    "pairs": (_pairs, ["accuracy", "macro f1", "matthews", "f1"]),
    "regression": (_numbers, ["pearson", "spearman"]),
    "multiple-choice": (_choices, ["accuracy"]),
    "tagging": (_tags, ["precision", "recall", "f1", "accuracy"]),
    "squad": (_questions, ["exact match", "f1"]),
}


@pytest.mark.parametrize(("write", "names"), TASKS.values(), ids=TASKS)
def test_finetune_for_other_tasks(write, names, capsys, no_picture):
    train = write(np.random.default_rng(0))
    file = train.split()[0]
    assert run(f"{FINETUNE} --held-out {file} --train {train}") == 0
    numbers = table(capsys.readouterr().out)
    assert list(numbers) == names
    assert run(f"evaluate tuned {file}") == 0
    assert table(capsys.readouterr().out) == numbers


def test_settings_from_a_file_and_options_over_them(capsys, no_picture):
    given = PretrainSettings(
        corpus=("corpus.txt",), vocabulary="checkpoint", model="checkpoint", max_length=20, batch_size=4, steps=3
    )
    Path("mine").mkdir()
    save_settings(given, Path("mine"))
    assert run("pretrain run --settings mine/settings.toml --steps 5") == 0
    assert "after 5 steps" in capsys.readouterr().out
    stored = load_settings(PretrainSettings, Path("run", SETTINGS_FILE))
    assert (stored.steps, stored.batch_size, stored.corpus) == (5, 4, ("corpus.txt",))


@pytest.mark.parametrize("command", [PRETRAIN, f"{FINETUNE} --held-out dev.tsv"], ids=["pretrain", "finetune"])
def test_resume(command, capsys, no_picture, monkeypatch):
    name, folder = command.split()[:2]
    assert run(command) == 0
    numbers, wanted = table(capsys.readouterr().out), results(Path(folder))
    assert run(f"{name} {folder} --resume") == 0, "a finished run"
    out, err = capsys.readouterr()
    assert table(out) == numbers
    assert err == "", "the head is not new any more"
    assert results(Path(folder)) == wanted

    Path(folder, STATE_FILE).unlink()  # as if it had been killed before the first state
    assert run(f"{name} {folder} --resume") == 0
    assert results(Path(folder)) == wanted


LIMITED = """
import resource, signal, sys
from npbert.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that a write fails with "File too large", as it does on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(sys.argv[2:]))
"""


def test_a_full_disk(no_picture):
    """The state grows past the limit, or the log does: one line says which file; with more room the run goes on."""
    assert run(PRETRAIN.replace("pretrain run", "pretrain whole").replace("--steps 6", "--steps 300")) == 0
    long = PRETRAIN.replace("--steps 6", "--steps 300 --save-every 10")
    for limit, file in ((1000, SETTINGS_FILE), (20_000, STATE_FILE), (45_000, METRICS_FILE)):
        options = ["pretrain", "run", "--resume"] if Path("run", STATE_FILE).exists() else long.split()
        command = [sys.executable, "-c", LIMITED, str(limit), *options]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        assert process.returncode == 1, process
        assert re.fullmatch(
            rf"npbert: error: \S*{re.escape(file)}\S*:? .*(File too large|No space left on device).*\n", process.stderr
        ), process.stderr
        assert not list(Path("run").rglob(".*.part"))
    assert Path("run", STATE_FILE).exists()
    assert run("pretrain run --resume") == 0
    assert results(Path("run")) == results(Path("whole"))
