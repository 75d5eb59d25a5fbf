"""The folder of a run: which run it is, and that only one process works on it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from npbert.extras import import_extra
from npbert.files import FileError, naming, remove_leftovers
from npbert.training.settings import SETTINGS_FILE, Settings, load_settings, save_settings
from npbert.training.state import STATE_FILE

MODEL_FOLDER = "model"
LOCK_FILE = ".lock"
FREE = ("keep_state", "share_state")
"""Settings that may be others when a run goes on: they change nothing that it computes."""


@contextmanager
def run_folder(folder: Path, settings: Settings) -> Iterator[None]:
    """While it lasts, `folder` is that of a run with these settings, which are written into it, and of this process.

    The system ends the lock when the process ends, in whatever way. (Extra: train.)

    Raises: FileError when another process has the folder, or it holds the state of a run with other settings, or in
    model/ a model that is of no run, and that would be overwritten; OSError, also for a file system without locks.
    """
    model = folder / MODEL_FOLDER
    if model.is_dir() and any(model.iterdir()) and not (folder / SETTINGS_FILE).exists():
        raise FileError(
            f"{model} holds files that are of no run of npbert, and would be overwritten: choose another folder"
        )
    filelock = import_extra("filelock", extra="train")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with naming(folder / LOCK_FILE):
            lock = filelock.FileLock(folder / LOCK_FILE, blocking=False).acquire()
    except filelock.Timeout as error:
        raise FileError(f"another process is training in {folder}") from error
    except NotImplementedError as error:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK), str(folder / LOCK_FILE)) from error
    with lock:
        for place in (folder, folder / MODEL_FOLDER):
            remove_leftovers(place)
        _check_same(folder, settings)
        save_settings(settings, folder)
        yield


def _check_same(folder: Path, settings: Settings) -> None:
    path = folder / SETTINGS_FILE
    if not ((folder / STATE_FILE).is_file() and path.is_file()):
        return
    stored = load_settings(type(settings), path)
    for entry in fields(settings):
        if entry.name in FREE:
            continue
        ours, theirs = getattr(settings, entry.name), getattr(stored, entry.name)
        if ours != theirs:
            raise FileError(
                f"{folder} holds a run with other settings, {entry.name} = {theirs!r} and not {ours!r}: to go on with "
                f"it, give its own; for a new run, another folder"
            )
