"""A folder holds one run, of which it says how it was set up, and one process works on it."""

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


def test_one_at_a_time(tmp_path):
    """Here in one process; test_kill.py goes on in folders whose process is dead."""
    trainer = make_trainer(tmp_path, steps=1)
    wanted = f"another process is training in {tmp_path}"
    with run_folder(tmp_path, trainer.settings), pytest.raises(FileError, match=wanted):
        trainer.train()
    trainer.train()


def test_an_error_lets_it_go_and_what_a_kill_left_half_written_is_removed(tmp_path):
    with pytest.raises(RuntimeError), run_folder(tmp_path, make_trainer(tmp_path, steps=1).settings):
        raise RuntimeError
    (tmp_path / "model").mkdir()
    left = [f"{folder}.{name}.safetensors.x.part" for folder, name in (("", "state"), ("model/", "model"))]
    kept = ["state.safetensors.part", ".state", ".notes.safetensors", "model/.notes"]
    for name in left + kept:
        (tmp_path / name).write_text("half")
    make_trainer(tmp_path, steps=1).train()
    assert [name for name in left + kept if (tmp_path / name).exists()] == kept
