"""A folder holds one run, of which it says how it was set up, and one process works on it."""

import os
import shutil
from pathlib import Path

import pytest

from npbert.io.files import FileError
from npbert.pages.report.page import write_report
from npbert.training import SETTINGS_FILE, STATE_FILE
from npbert.training.session import locked
from tests.training.tiny import make_trainer


def test_one_at_a_time_and_what_a_kill_left_half_written_is_removed(tmp_path):
    """Here in one process; test_kill.py goes on in folders whose process is dead."""
    trainer = make_trainer(tmp_path, steps=1)
    with pytest.raises(FileError, match=f"another process is training in {tmp_path}"), locked(tmp_path):
        trainer.train()
    left = tmp_path / ".state.safetensors.x.npbert-unfinished"
    left.mkdir()
    (left / ".tmpQAgvW7").write_text("half")
    trainer.train()
    assert not left.exists()


def test_a_model_that_is_of_no_run_is_never_overwritten(tmp_path):
    """A folder may hold a checkpoint of somebody else, called model."""
    (tmp_path / "model").mkdir()
    make_trainer(tmp_path, steps=1).train()  # an empty one is not a model
    foreign = tmp_path / "pm" / "model" / "model.safetensors"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"precious")
    with pytest.raises(FileError, match=r"pm/model has files of something else, which would be overwritten"):
        make_trainer(tmp_path / "pm", steps=1).train()
    assert foreign.read_bytes() == b"precious"
    assert [path.name for path in (tmp_path / "pm").iterdir()] == ["model"]


def test_nothing_is_written_through_a_link(tmp_path, monkeypatch):
    """Whatever a run, or its report, writes: with links to outside in its place, what is outside stays as it is."""
    monkeypatch.setattr("npbert.pages.report.page.as_bytes", lambda *_: b"")  # it takes most of the time

    def write(run):
        make_trainer(run, steps=1).train()
        write_report(run)

    write(whole := tmp_path / "whole")
    places, refused = {place.relative_to(whole) for place in whole.rglob("*")}, set()
    (whole / STATE_FILE).unlink()  # so it begins anew, and writes all of it
    alone = set(map(Path, ("model", "tensorboard", ".lock", SETTINGS_FILE)))
    for number, links in enumerate([places - alone, *({place} for place in alone)]):
        run = Path(shutil.copytree(whole, tmp_path / str(number)))
        outside = tmp_path / f"outside of {number}"
        outside.mkdir()
        for place in links:
            target = outside / "-".join(place.parts)
            if (run / place).exists():
                shutil.move(run / place, target)
            (run / place).symlink_to(target)
        before = {file: file.read_bytes() for file in outside.rglob("*") if file.is_file()}
        try:
            write(run)
        except FileError as error:
            refused |= {str(place) for place in links if "is a link" in str(error)}
        assert {file: file.read_bytes() for file in outside.rglob("*") if file.is_file()} == before, links
    assert refused == {"model", "tensorboard", ".lock"}


def test_the_log_is_on_the_disk_before_the_state(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync
    names = {"metrics.jsonl", "state.safetensors"}

    def watch(handle):
        name = Path(f"/proc/self/fd/{handle}").readlink().name
        synced.extend({name} & names)
        fsync(handle)

    if not Path("/proc/self/fd").exists():
        pytest.skip("the names of open files are known on Linux alone")
    monkeypatch.setattr(os, "fsync", watch)
    make_trainer(tmp_path, steps=4, save_every=2).train()
    assert synced == ["metrics.jsonl", "metrics.jsonl", "state.safetensors", "metrics.jsonl", "state.safetensors"]
