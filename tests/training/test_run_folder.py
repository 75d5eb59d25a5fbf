"""A folder holds one run, of which it says how it was set up, and one process works on it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from npbert.files import FileError
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.pretrain import Pretraining, PretrainSettings
from npbert.training.run_folder import run_folder
from npbert.training.settings import SETTINGS_FILE, TrainerSettings, load_settings
from npbert.training.state import STATE_FILE
from tests.training.tiny import make_trainer, results, write_checkpoint, write_corpus, write_labelled


@pytest.fixture(autouse=True)
def no_picture(monkeypatch):
    monkeypatch.setattr("npbert.training.trainer.plot_curves", lambda *_: None)


@pytest.fixture(params=["pre-training", "fine-tuning"])
def run(request, tmp_path):
    """The class of a run, and its settings."""
    checkpoint = str(write_checkpoint(tmp_path / "checkpoint"))
    small: dict[str, Any] = {"max_length": 20, "batch_size": 4, "model": checkpoint}
    if request.param == "pre-training":
        corpus = (str(write_corpus(tmp_path / "corpus.txt")),)
        return Pretraining, PretrainSettings(corpus=corpus, vocabulary=checkpoint, steps=5, **small)
    return Finetuning, FinetuneSettings(train=str(write_labelled(tmp_path / "train.tsv")), epochs=1, **small)


def test_from_python_as_from_the_command_line(run, tmp_path):
    run_class, settings = run
    run_class(settings, tmp_path / "run").trainer.train()
    assert load_settings(type(settings), tmp_path / "run" / SETTINGS_FILE) == settings
    before = results(tmp_path / "run")
    run_class(settings, tmp_path / "run").trainer.train()
    assert results(tmp_path / "run") == before, "a finished run has no more to do"


def test_settings_of_the_loop_alone(tmp_path):
    make_trainer(tmp_path, steps=3).train()
    assert load_settings(TrainerSettings, tmp_path / SETTINGS_FILE).steps == 3


def test_other_settings_are_another_run(tmp_path):
    make_trainer(tmp_path, steps=3).train()
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(FileError, match=r"holds a run with other settings, learning_rate = 0.01 and not 0.5: to go on"):
        make_trainer(tmp_path, steps=3, learning_rate=0.5).train()
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
    (tmp_path / STATE_FILE).unlink()
    make_trainer(tmp_path, steps=3, learning_rate=0.5).train()
    assert load_settings(TrainerSettings, tmp_path / SETTINGS_FILE).learning_rate == 0.5


HOLDS = """
import sys
from pathlib import Path
from npbert.training.run_folder import run_folder
from npbert.training.settings import TrainerSettings
with run_folder(Path(sys.argv[1]), TrainerSettings()):
    print("in", flush=True)
    sys.stdin.read()
"""


def test_one_process_at_a_time(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        with pytest.raises(FileError, match=f"another process is training in {tmp_path}"):
            make_trainer(tmp_path, steps=1).train()
        other.kill()  # and leaves the lock behind
    make_trainer(tmp_path / "b", steps=1).train()
    with run_folder(tmp_path, TrainerSettings()):
        pass


def test_an_error_lets_it_go(tmp_path):
    with pytest.raises(RuntimeError), run_folder(tmp_path, TrainerSettings()):
        raise RuntimeError
    make_trainer(tmp_path, steps=1).train()


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "filelock", None)
    with pytest.raises(ImportError, match=r"filelock, which is not installed: .* pip install '.\[train\]'"):
        make_trainer(tmp_path, steps=1).train()
