"""What is changed under a stopped run is noticed when it goes on: by its name, and before anything is written."""

import shutil
from pathlib import Path

import pytest

from npbert.io.files import FileError
from npbert.training import reads
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.pretrain import Pretraining, PretrainSettings
from npbert.training.settings import SETTINGS_FILE, load_settings
from npbert.training.state import STATE_FILE
from tests.training.tiny import write_checkpoint, write_corpus, write_labelled

KINDS = {"pretrained": (PretrainSettings, Pretraining), "tuned": (FinetuneSettings, Finetuning)}
SMALL = {"model": "checkpoint", "steps": 2, "batch_size": 4, "max_length": 20}
GIVEN = {
    "pretrained": {"corpus": ("books",), "held_out": ("held_out.txt",), "vocabulary": "checkpoint"},
    "tuned": {"train": "train.tsv", "held_out": "dev.tsv"},
}
STATE = Path("pretrained", STATE_FILE)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A folder with what two runs read, and both of them, stopped after their first step."""
    folder = tmp_path_factory.mktemp("stopped")

    def stop(_):
        raise InterruptedError

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_checkpoint(Path("checkpoint"))
        Path("books").mkdir()
        for seed, name in enumerate(("books/a.txt", "books/b.txt", "held_out.txt")):
            write_corpus(Path(name), seed=seed)
        for seed, name in enumerate(("train.tsv", "dev.tsv")):
            write_labelled(Path(name), seed=seed)
        for name, (settings, kind) in KINDS.items():
            run = kind(settings(**SMALL, **GIVEN[name]), name)
            patch.setattr(run.trainer, "_judge", stop)
            with pytest.raises(InterruptedError):
                run.trainer.train()
            run.trainer.save()
    return folder


@pytest.fixture(autouse=True)
def here(stopped, tmp_path, monkeypatch):
    monkeypatch.chdir(shutil.copytree(stopped, tmp_path / "copy"))


def assert_noticed(run, said, **settings):
    """It does not go on, and its folder stays as it was."""
    kind, run_class = KINDS[run]
    before = {path: path.read_bytes() for path in Path(run).rglob("*") if path.is_file()}
    with pytest.raises(FileError) as noticed:
        run_class(load_settings(kind, Path(run, SETTINGS_FILE), **settings), run).trainer.train()
    assert said in str(noticed.value)
    assert {path: path.read_bytes() for path in Path(run).rglob("*") if path.is_file()} == before


FILES = {
    "a word of the corpus": ("pretrained", "books/a.txt", " cat ", " dog ", "corpus file books/a.txt was"),
    "a word of the held-out text": ("pretrained", "held_out.txt", " cat ", " dog ", "held-out file"),
    "two words of the vocabulary": ("pretrained", "checkpoint/vocab.txt", "cat\ndog", "dog\ncat", "vocabulary was"),
    "the activation": ("pretrained", "checkpoint/config.json", '"gelu"', '"relu"', "configuration of the model was"),
    "texts": ("tuned", "train.tsv", "cat", "dog", "training file train.tsv was"),
    "texts that judge": ("tuned", "dev.tsv", "cat", "dog", "held-out file"),
}
"""By name: the run, the file, what is replaced there, and what is said."""


@pytest.mark.parametrize("name", FILES)
def test_another_file_is_noticed(name):
    run, pattern, old, new, said = FILES[name]
    for path in Path().glob(pattern):
        text = path.read_bytes().decode()
        assert old in text
        path.write_bytes(text.replace(old, new).encode())
    assert_noticed(run, said)


MOVED = {
    "a file less": (Path("books/b.txt").unlink, "books/b.txt was"),
    "another order": (lambda: Path("books/b.txt").replace("books/a.txt"), "corpus file books/a.txt was"),
    "another run's state": (lambda: Path("tuned", STATE_FILE).replace(STATE), "has a run with "),
}


@pytest.mark.parametrize("name", MOVED)
def test_files_that_are_moved_are_noticed(name):
    change, said = MOVED[name]
    change()
    assert_noticed("pretrained", said)


SETTINGS = [("learning_rate", 0.5), ("objective", "sop"), ("class_weight", ("balanced",))]


@pytest.mark.parametrize(("name", "value"), SETTINGS)
def test_another_setting_is_noticed(name, value):
    run = "pretrained" if hasattr(PretrainSettings, name) else "tuned"
    assert_noticed(run, f"other settings, {name} was ", **{name: value})


def test_another_npbert_is_noticed(monkeypatch):
    monkeypatch.setattr(reads, "_code", lambda: "another")
    assert_noticed("tuned", "code of npbert was")
