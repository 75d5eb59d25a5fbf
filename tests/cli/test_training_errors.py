"""What can go wrong with training: always one line that says what and where, never a traceback."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from npbert.cli import main
from npbert.training.state import STATE_FILE
from tests.training.tiny import write_checkpoint, write_corpus, write_labelled

SMALL = "--max-length 20 --batch-size 4 --steps 4 --log-every 1"
PRETRAIN = f"pretrain run --corpus corpus.txt --vocabulary checkpoint --model checkpoint {SMALL}"
FINETUNE = f"finetune run --model checkpoint --train train.tsv --held-out dev.tsv {SMALL}"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)
    write_corpus(Path("corpus.txt"))
    write_checkpoint(Path("checkpoint"))
    write_labelled(Path("train.tsv"))
    write_labelled(Path("dev.tsv"), seed=1)
    write_checkpoint(Path("small"), max_position_embeddings=10)
    Path("folder").mkdir()
    for name, content in {
        "empty.txt": b"\n \n",
        "latin.txt": b"one\ntwo \xe9\n",
        "empty.tsv": b"",
        "columns.tsv": b"the cat .\tyes\nthe dog .\n",
        "maybe.tsv": b"the cat .\tyes\nthe dog .\tmaybe\n",
        "words.tsv": b"the cat .\t0.5\nthe dog .\tmuch\n",
        "one.txt": b"the cat .\n",
        "one.conll": b"cat B\n\ndog\n",
        "new.conll": b"cat B\ndog I-C\n",
        "good.conll": b"cat B\ndog O\n",
        "bad.json": b'{"data": 3}',
        "bad.toml": b"steps = = 3",
        "typo.toml": b"stesp = 3",
        "kind.toml": b"patience = 'long'",
    }.items():
        Path(name).write_bytes(content)


def error_of(command: str, capsys: Any) -> str:
    """What the only line on standard error says, after its beginning, which is always the same."""
    capsys.readouterr()
    assert main(command.split()) == 1
    out, err = capsys.readouterr()
    assert "after 4 steps" not in out
    *others, line = err.splitlines()
    assert all("but new: classifier" in other for other in others), err
    assert line.startswith("npbert: error: ")
    return line.removeprefix("npbert: error: ")


# the command, what is added to it (an option given twice counts the second time), what it says
WRONG = {
    "no such corpus": (PRETRAIN, "--corpus gone.txt", "gone.txt: No such file or directory"),
    "empty corpus": (PRETRAIN, "--corpus empty.txt", "empty.txt is empty: there is no text to learn from"),
    "a folder without text": (PRETRAIN, "--corpus folder", "folder is a folder without .txt files"),
    "corpus in Latin-1": (PRETRAIN, "--corpus latin.txt", "latin.txt, line 2: byte 5 of the line is not UTF-8"),
    "no such held-out text": (PRETRAIN, "--held-out gone.txt", "gone.txt: No such file or directory"),
    "held-out text too short": (
        PRETRAIN,
        "--objective sop --held-out one.txt",
        "the held-out text, one.txt, has no batches",
    ),
    "training text too short": (PRETRAIN, "--objective sop --corpus one.txt", "the training data has no batches"),
    "no vocabulary": (PRETRAIN, "--vocabulary folder", "folder has no tokenizer.json and no vocab.txt"),
    "no model": (
        PRETRAIN,
        "--model bert-huge",
        "bert-huge is no checkpoint: there is no such folder (npbert reads from disk and downloads nothing)",
    ),
    "model too short": (
        PRETRAIN,
        "--model small",
        "max_length is 20, but small takes 10 tokens",
    ),
    "no steps": (PRETRAIN, "--steps 0", "steps is 0, wanted at least 1"),
    "no parts": (PRETRAIN, "--parts 0", "parts is 0, wanted at least 1"),
    "no such objective": (PRETRAIN, "--objective mlm", "objective is 'mlm', wanted one of nsp, sop, none"),
    "too short": (PRETRAIN, "--max-length 4", "max_length is 4, wanted at least 8"),
    "no batch": (PRETRAIN, "--batch-size 0", "batch_size is 0, wanted at least 1"),
    "no share": (PRETRAIN, "--mask-probability 0", "probability is 0.0, wanted more than 0 and at most 1"),
    "negative seed": (PRETRAIN, "--seed -1", "seed is -1, wanted at least 0"),
    "corpus not given": ("pretrain run", "", "corpus is empty, wanted at least one file or folder of text"),
    "settings no TOML": (PRETRAIN, "--settings bad.toml", "bad.toml is no valid TOML: *"),
    "settings with a typo": (PRETRAIN, "--settings typo.toml", "typo.toml: there is no setting stesp; there are *"),
    "settings of a wrong kind": (PRETRAIN, "--settings kind.toml", "kind.toml: patience is 'long', wanted int"),
    "no settings": (PRETRAIN, "--settings gone.toml", "gone.toml: No such file or directory"),
    "a file for a folder": (PRETRAIN.replace("run", "corpus.txt", 1), "", "corpus.txt: File exists"),
    "much too fast": (
        PRETRAIN,
        "--learning-rate 1e30 --warmup 0",
        "step 2: the loss is nan and the norm of the gradient nan; the first values that are not finite come out of "
        "bert.* A smaller learning rate may help.",
    ),
    "faster still": (
        PRETRAIN,
        "--learning-rate 1e300 --warmup 0",
        "step 1: the parameter bert.* is not finite after it. A smaller learning rate may help.",
    ),
    "nothing to go on with": ("pretrain gone --resume", "", "gone/settings.toml: No such file or directory"),
    "no such file": (FINETUNE, "--train gone.tsv", "gone.tsv: No such file or directory"),
    "a folder for a file": (FINETUNE, "--train folder", "folder: Is a directory"),
    "empty file": (FINETUNE, "--train empty.tsv", "empty.tsv is empty: it has no rows"),
    "a column too few": (FINETUNE, "--train columns.tsv", "columns.tsv, line 2: 1 columns, wanted at least 2"),
    "file in Latin-1": (FINETUNE, "--train latin.txt", "latin.txt, line 2: byte 8 (0xe9) is not UTF-8"),
    "a new label": (
        FINETUNE,
        "--held-out maybe.tsv",
        "maybe.tsv, line 2: the label 'maybe' is none of those in training: 'no', 'yes'",
    ),
    "a new tag": (
        FINETUNE,
        "--task tagging --train good.conll --held-out new.conll",
        "new.conll, line 1 on: the label 'I-C' is none of those in training: 'B', 'O'",
    ),
    "a word without a tag": (
        FINETUNE,
        "--task tagging --train one.conll",
        "one.conll, line 3: only one column, wanted a word and a tag",
    ),
    "no number": (FINETUNE, "--task regression --train words.tsv", "words.tsv, line 2: 'much' is no number"),
    "no SQuAD": (FINETUNE, "--task squad --train bad.json", "bad.json is not in SQuAD's format: *"),
    "one choice": (FINETUNE, "--task multiple-choice --choices 0", "choices has 1 columns, wanted at least 2"),
    "no such task": (
        FINETUNE,
        "--task chess",
        "task is 'chess', wanted one of classification, regression, multiple-choice, tagging, squad",
    ),
    "no such metric": (
        FINETUNE,
        "--metric beauty",
        "metric is 'beauty', wanted one of accuracy, macro_f1, matthews, f1",
    ),
    "no model to tune": (FINETUNE, "--model folder", "folder has no tokenizer.json and no vocab.txt"),
    "model to tune too short": (FINETUNE, "--model small", "max_length is 20, but small takes 10 tokens"),
    "endless": (FINETUNE, "--epochs inf", "epochs is inf, wanted a positive number"),
    "nothing to tune": ("finetune run", "", "model is empty, wanted a folder"),
    "tuned much too fast": (
        FINETUNE,
        "--learning-rate 3e39 --warmup 0",
        "step 1: the parameter bert.* is not finite after it. A smaller learning rate may help.",
    ),
    "no folder to judge": ("evaluate gone dev.tsv", "", "gone is no checkpoint: there is no such folder *"),
    "no names of labels": (
        "evaluate checkpoint dev.tsv",
        "",
        "dev.tsv, line 1: the label 'no' is none of those in training: '0', '1'",
    ),
    "no file to judge by": ("evaluate checkpoint gone.tsv", "", "gone.tsv: No such file or directory"),
}


@pytest.mark.parametrize(("command", "options", "message"), WRONG.values(), ids=WRONG)
def test_one_line(command, options, message, capsys):
    said = error_of(f"{command} {options}", capsys)
    wanted = ".*".join(re.escape(part) for part in message.split("*"))
    assert re.fullmatch(wanted, said), said
    assert not list(Path().rglob(".*.part"))


def test_a_wrong_start_leaves_no_folder(capsys):
    error_of(f"{PRETRAIN} --corpus gone.txt", capsys)
    error_of(f"{FINETUNE} --train gone.tsv", capsys)
    assert not Path("run").exists()


@pytest.mark.parametrize("command", [PRETRAIN, FINETUNE], ids=["pretrain", "finetune"])
def test_a_folder_that_holds_a_run(command, capsys):
    assert main(command.split()) == 0
    before = {file: file.read_bytes() for file in Path("run").rglob("*") if file.is_file()}
    assert error_of(f"{command} --seed 1", capsys) == "run holds a run already: --resume goes on with it"
    assert {file: file.read_bytes() for file in Path("run").rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("options", ["--steps 9", "--settings typo.toml", "--corpus corpus.txt", "--no-whole-words"])
def test_to_go_on_takes_no_other_settings(options, capsys):
    assert main(PRETRAIN.split()) == 0
    wanted = "--resume goes on with the settings in the folder, and takes no others"
    assert error_of(f"pretrain run --resume {options}", capsys) == wanted


def test_a_damaged_state(capsys):
    assert main(PRETRAIN.split()) == 0
    path = Path("run", STATE_FILE)
    path.write_bytes(path.read_bytes()[:-100])
    said = error_of("pretrain run --resume", capsys)
    assert said.startswith(f"{path} is damaged, cut short or no safetensors file: ")


def test_the_state_of_another_model(capsys):
    assert main(PRETRAIN.split()) == 0
    write_checkpoint(Path("checkpoint"), intermediate_size=16)
    said = error_of("pretrain run --resume", capsys)
    assert said.startswith(f"run/{STATE_FILE} is the state of another model or optimiser: value.bert.encoder.")


def test_a_run_of_another_kind(capsys):
    assert main(PRETRAIN.split()) == 0
    said = error_of("finetune run --resume", capsys)
    assert said == "run holds a run of another kind: to go on, npbert pretrain run --resume"
    assert main(FINETUNE.replace("finetune run", "finetune tuned").split()) == 0
    said = error_of("pretrain tuned --resume", capsys)
    assert said == "tuned holds a run of another kind: to go on, npbert finetune tuned --resume"


def test_a_run_is_judged_by_its_own_settings(capsys):
    assert main(PRETRAIN.split()) == 0
    said = error_of("evaluate run corpus.txt --settings typo.toml", capsys)
    assert said == "--settings is for a checkpoint: for the run in run, its own settings hold"


def test_an_unknown_label_when_judging(capsys):
    assert main(FINETUNE.split()) == 0
    said = error_of("evaluate run maybe.tsv", capsys)
    assert said == "maybe.tsv, line 2: the label 'maybe' is none of those in training: 'no', 'yes'"


def test_a_checkpoint_without_a_head(capsys):
    Path("good.tsv").write_text("the cat .\t0\n", encoding="utf-8")
    assert main(["evaluate", "checkpoint", "good.tsv"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "npbert: error: checkpoint/model.safetensors does not fit BertForSequenceClassification:",
        "  missing: classifier.weight (2, 8)",
        "  missing: classifier.bias (2,)",
    ]


def test_a_full_disk_while_saving(capsys, monkeypatch):
    """What save_file of the library says of a full disk, and what a plain write says."""

    def fails(path: Path, *_: Any) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("npbert.training.state.write_tensors", fails)
    assert error_of(PRETRAIN, capsys) == f"run/{STATE_FILE}: No space left on device"
    assert not list(Path("run").glob("*state*"))
    assert Path("run/model/model.safetensors").exists(), "the last step was evaluated before"


def test_without_the_extra(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    wanted = "this needs the package tomlkit, which is not installed: in npbert's folder, pip install '.[train]'"
    assert error_of(PRETRAIN, capsys) == wanted


def test_a_vocabulary_that_does_not_fit_the_model(capsys):
    """It is noticed before the first step, and not by whoever uses the model later."""
    assert main(["vocab", "corpus.txt", "--output", "other"]) == 0
    wanted = r"checkpoint: the vocabulary has \d+ tokens, but vocab_size in its config.json is 30"
    assert re.fullmatch(wanted, error_of(PRETRAIN.replace("--vocabulary checkpoint", "--vocabulary other"), capsys))
    for file in Path("other").iterdir():
        file.replace(Path("checkpoint", file.name))
    assert re.fullmatch(wanted, error_of(FINETUNE, capsys))
