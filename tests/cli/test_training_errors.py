"""What can go wrong with training: always one line that says what and where, never a traceback."""

import re
from pathlib import Path

import pytest

from npbert.cli import main
from npbert.models import size_table
from npbert.training.state import STATE_FILE
from tests.training.tiny import write_checkpoint, write_corpus, write_labelled

SMALL = "--max-length 20 --batch-size 4 --steps 4 --log-every 1"
PRETRAIN = f"pretrain run --corpus corpus.txt --vocabulary checkpoint --model checkpoint {SMALL}"
FINETUNE = f"finetune run --model checkpoint --train train.tsv --held-out dev.tsv {SMALL}"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("npbert.training.trainer.draw_curves", lambda *_: None)
    write_corpus(Path("corpus.txt"))
    write_checkpoint(Path("checkpoint"))
    write_labelled(Path("train.tsv"))
    write_labelled(Path("dev.tsv"), seed=1)
    write_checkpoint(Path("small"), max_position_embeddings=10)
    Path("folder").mkdir()
    for name, content in {
        "empty.txt": b"\n \n",
        "latin.txt": b"one\ntwo \xe9\n",
        "one.txt": b"the cat .\n",
        "maybe.tsv": b"the cat .\tyes\nthe dog .\tmaybe\n",
        "words.tsv": b"the cat .\t0.5\nthe dog .\tmuch\n",
        "b.conll": b"cat B\ndog O\n",
        "c.conll": b"cat B\ndog I\n",
        "bad.json": b"{}",
        "typo.toml": b"stesp = 3",
    }.items():
        Path(name).write_bytes(content)


@pytest.fixture
def error_of(capsys):
    """error_of(command) -> what the only line on standard error says, after its beginning."""

    def error_of(command):
        capsys.readouterr()
        assert main(command.split()) == 1
        out, err = capsys.readouterr()
        assert "after 4 steps" not in out
        *others, line = err.splitlines()
        assert all("but new: classifier" in other for other in others), err
        assert line.startswith("npbert: error: ")
        return line.removeprefix("npbert: error: ")

    return error_of


NO_FOLDER = "is no checkpoint: there is no such folder (npbert reads from disk and downloads nothing)"
TOO_FAST = "is not finite after it. A smaller learning rate may help."
NONE_OF = "is none of those in training:"


@pytest.mark.parametrize(
    ("options", "message"),  # an option that is given twice counts the second time; `*` stands for anything
    [
        ("--corpus gone.txt", "gone.txt: No such file or directory"),
        ("--corpus empty.txt", "empty.txt is empty: there is no text to learn from"),
        ("--corpus latin.txt", "latin.txt, line 2: byte 5 of the line is not UTF-8"),
        ("--objective sop --corpus one.txt", "the training data has no batches"),
        ("--model small", "max_length is 20, but small takes 10 tokens"),
        ("--steps 0", "steps is 0, wanted at least 1"),
        ("--mask-probability 0", "probability is 0.0, wanted more than 0 and at most 1"),
        ("--settings typo.toml", "typo.toml: there is no setting stesp; did you mean steps?"),
        ("--learning-rate 1e30 --warmup 0", "step 2: the loss is nan and the norm of the gradient nan; the first *"),
        ("--learning-rate 1e300 --warmup 0", f"step 1: the parameter bert.* {TOO_FAST}"),
    ],
)
def test_pretrain(options, message, error_of):
    check(error_of(f"{PRETRAIN} {options}"), message)
    assert Path("run").exists() == message.startswith(("step ", "probability", "the training")), "or no folder is left"


def test_a_model_that_is_neither_a_size_nor_a_folder(capsys):
    """The one error of several lines: the sizes that there are."""
    assert main(f"{PRETRAIN} --model bert-smol".split()) == 1
    first, *sizes = capsys.readouterr().err.splitlines()
    assert first == ("npbert: error: model: there is no size 'bert-smol', and no such folder; did you mean bert-small?")
    assert sizes == size_table().splitlines()
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--train gone.tsv", "gone.tsv: No such file or directory"),
        ("--held-out maybe.tsv", f"maybe.tsv, line 2: the label 'maybe' {NONE_OF} 'no', 'yes'"),
        ("--task tagging --train b.conll --held-out c.conll", f"c.conll, line 1 on: the label 'I' {NONE_OF} 'B', 'O'"),
        ("--task regression --train words.tsv", "words.tsv, line 2: 'much' is no number"),
        ("--task squad --train bad.json", "bad.json is not in SQuAD's format: *"),
        ("--task chess", "task is 'chess', wanted one of classification, *, tagging, pos, squad"),
        ("--held-out gone.tsv --train also-gone.tsv", "also-gone.tsv: No such file or directory"),
        ("--model small", "max_length is 20, but small takes 10 tokens"),
        ("--learning-rate 3e39 --warmup 0", f"step 1: the parameter bert.* {TOO_FAST}"),
    ],
)
def test_finetune(options, message, error_of):
    check(error_of(f"{FINETUNE} {options}"), message)


def test_an_unknown_label_when_judging(error_of):
    assert main(FINETUNE.split()) == 0
    check(error_of("evaluate run maybe.tsv"), f"maybe.tsv, line 2: the label 'maybe' {NONE_OF} 'no', 'yes'")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("pretrain run", "--corpus is missing, wanted at least one file or folder of text"),
        ("finetune run", "--model is missing, wanted the folder of a checkpoint"),
        (PRETRAIN.replace("run", "corpus.txt", 1), "corpus.txt: File exists"),
        ("pretrain gone --resume", "there is no run in gone to go on with: it has no settings.toml"),
        ("evaluate gone dev.tsv", f"gone {NO_FOLDER}"),
        ("evaluate checkpoint dev.tsv", "checkpoint holds a pre-trained BERT that *, and not a text *"),
    ],
)
def test_other_commands(command, message, error_of):
    check(error_of(command), message)


def check(said, message):
    assert re.fullmatch(".*".join(map(re.escape, message.split("*"))), said), said
    assert not list(Path().rglob(".*.part"))


@pytest.mark.parametrize("command", [PRETRAIN, FINETUNE], ids=["pretrain", "finetune"])
def test_a_folder_that_holds_a_run(command, error_of):
    assert main(command.split()) == 0
    before = {file: file.read_bytes() for file in Path("run").rglob("*") if file.is_file()}
    assert (
        error_of(f"{command} --seed 1")
        == "run holds a run already: --resume goes on with it; a new run needs another folder"
    )
    name, other = ("pretrain", "finetune") if command is PRETRAIN else ("finetune", "pretrain")
    wanted = f"run holds a run of another kind: to go on, npbert {name} run --resume"
    assert error_of(f"{other} run --resume") == wanted
    wanted = "--resume goes on with the settings in the folder, and takes no others"
    for options in ("--steps 9", "--settings typo.toml", "--max-length 20", "--no-gradient-checkpointing"):
        assert error_of(f"{name} run --resume {options}") == wanted
    wanted = "--settings is for a checkpoint: for the run in run, its own settings hold"
    assert error_of("evaluate run corpus.txt --settings typo.toml") == wanted
    assert {file: file.read_bytes() for file in Path("run").rglob("*") if file.is_file()} == before


def test_what_is_for_labelled_files_is_refused_where_there_are_none(error_of):
    assert main(PRETRAIN.split()) == 0
    wanted = "--text-pair is for a labelled file, and run holds a pre-trained model"
    assert error_of("evaluate run corpus.txt --text-pair 1") == wanted


def test_a_command_to_type_is_written_for_a_shell(error_of):
    assert main(PRETRAIN.replace("run", "it's", 1).split()) == 0
    wanted = """it's holds a run of another kind: to go on, npbert pretrain 'it'"'"'s' --resume"""
    assert error_of("finetune it's --resume") == wanted


def test_a_run_that_is_gone_on_with_or_judged_from_another_folder(error_of, monkeypatch):
    assert main(PRETRAIN.split()) == 0
    here = Path.cwd()
    monkeypatch.chdir("folder")
    wanted = f"corpus is 'corpus.txt' in {here}/run/settings.toml, and there is none in {here}/folder: *"
    for command in (f"pretrain {here}/run --resume", f"evaluate {here}/run {here}/corpus.txt"):
        check(error_of(command), wanted)


def test_a_run_in_place_of_a_checkpoint(error_of):
    assert main(PRETRAIN.split()) == 0
    wanted = "run is no checkpoint: it has no config.json (did you mean run/model?)"
    assert error_of(FINETUNE.replace("finetune run --model checkpoint", "finetune tuned --model run")) == wanted


def test_a_state_that_is_damaged_or_of_another_model(error_of):
    assert main(PRETRAIN.split()) == 0
    path = Path("run", STATE_FILE)
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    check(error_of("pretrain run --resume"), f"{path} is damaged, cut short or no safetensors file: *")
    path.write_bytes(content)
    write_checkpoint(Path("checkpoint"), intermediate_size=16)
    check(error_of("pretrain run --resume"), f"{path} is the state of another model or optimiser: value.bert.encoder.*")


def test_a_full_disk_while_saving(error_of, monkeypatch):
    """What save_file of the library says of a full disk, and what a plain write says."""

    def fails(path, *_):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("npbert.training.state.write_tensors", fails)
    assert error_of(PRETRAIN) == f"run/{STATE_FILE}: No space left on device"
    assert not list(Path("run").glob("*state*"))
    assert Path("run/model/model.safetensors").exists(), "the last step was evaluated before"


def test_a_vocabulary_that_does_not_fit_the_model(error_of):
    """It is noticed before the first step, and not by whoever uses the model later."""
    assert main(["vocab", "corpus.txt", "--output", "other"]) == 0
    wanted = "checkpoint: the vocabulary has * tokens, but vocab_size in its config.json is 30"
    check(error_of(f"{PRETRAIN} --vocabulary other"), wanted)
    for file in Path("other").iterdir():
        file.replace(Path("checkpoint", file.name))
    check(error_of(FINETUNE), wanted)
