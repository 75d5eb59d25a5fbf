"""A folder holds one run, of which it says how it was set up, and one process works on it."""

import subprocess
import sys

import pytest

from npbert.files import FileError
from npbert.training.run_folder import run_folder
from npbert.training.settings import SETTINGS_FILE, TrainerSettings, load_settings
from npbert.training.state import STATE_FILE
from tests.training.tiny import make_trainer


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
    trainer = make_trainer(tmp_path, steps=1)
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "in\n"
        with pytest.raises(FileError, match=f"another process is training in {tmp_path}"):
            trainer.train()
        other.kill()  # and leaves the lock behind
    trainer.train()


def test_an_error_lets_it_go_and_leftovers_are_removed(tmp_path):
    with pytest.raises(RuntimeError), run_folder(tmp_path, TrainerSettings()):
        raise RuntimeError
    (tmp_path / "model").mkdir()
    leftovers = [tmp_path / ".state.safetensors.x.part", tmp_path / "model" / ".model.safetensors.y.part"]
    for file in leftovers:
        file.write_text("half")
    make_trainer(tmp_path, steps=1).train()
    assert not any(file.exists() for file in leftovers)
