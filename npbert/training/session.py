"""A session of training: locks the folder, resumes the run from its state, and creates the watchers."""

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from npbert.compute import hold_blas, keep_freed_memory
from npbert.io import FileError, import_extra, naming, remove_leftovers
from npbert.models.hugging_face.tensors import TensorFile
from npbert.training.parallel import check_same
from npbert.training.settings import SETTINGS_FILE, digests, save_settings
from npbert.training.state import MODEL_FOLDER, STATE_FILE, Resumable
from npbert.training.watchers import EVENTS_FOLDER, log, progress_bar, tensorboard

LOCK_FILE = ".lock"
_ASKING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that ask a run to stop. (Windows has no SIGHUP.)"""


@contextmanager
def session(trainer: Resumable, *, changed_data: bool, overwrite: bool) -> Iterator[list[object]]:
    """Within it, a Trainer has its folder locked, its run resumed, and watchers of its steps. Gives a list, empty until
    the run is to stop.

    Raises: as Trainer.train; ValueError, on all processes, unless they have the same npbert, settings, model, files and
    folder.
    """
    keep_freed_memory()
    communicator, folder, model = trainer.communicator, trainer.folder, trainer.model
    file = folder / STATE_FILE
    with communicator.ending_together(), hold_blas(), ExitStack() as stack:
        trainer.inputs = digests({"configuration of the model": repr(model.config), **trainer.evaluation.inputs})
        state = TensorFile(file).metadata if file.is_file() and not overwrite else None
        if communicator.size > 1:
            values = model.named_parameters()
            sums = {f"value of {name}": sha256(parameter.value.data).hexdigest() for name, parameter in values}
            shared = {f"the state in {folder}, a folder for all processes,": state}
            check_same(communicator, {**asdict(trainer.settings), **trainer.inputs, **sums, **shared})
        if communicator.is_first:  # only this process writes and prints
            stack.enter_context(locked(folder))
        news = trainer.restore(changed_data=changed_data) if state is not None else ""
        asked = stack.enter_context(stop_when_asked())
        if communicator.is_first:
            if overwrite:
                file.unlink(missing_ok=True)
            save_settings(trainer.settings, folder)
            total, after = trainer.progress.total_steps, trainer.step
            bar = stack.enter_context(progress_bar(total, done=after, asked=asked, news=news))
            board = tensorboard(folder / EVENTS_FOLDER, first_step=after + 1)
            trainer.watchers = [log(folder, after_step=after), board, bar]
        yield asked


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder for this process. The system unlocks it when the process ends, even by a crash. (Extra: train.)

    Raises: FileError if another process has the folder, or if a model of no run would be overwritten in model/;
    OSError.
    """
    model = folder / MODEL_FOLDER
    if model.is_dir() and any(model.iterdir()) and not (folder / SETTINGS_FILE).exists():
        raise FileError(f"{model} has files of something else, which would be overwritten: choose another folder")
    for place in (model, folder / EVENTS_FOLDER, folder / LOCK_FILE):
        if place.is_symlink():  # all other files are replaced by new ones, links too
            raise FileError(f"{place} is a link, wanted a folder, as a run writes only into its own")
    filelock = import_extra("filelock")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with naming(folder / LOCK_FILE):
            lock = filelock.FileLock(folder / LOCK_FILE, blocking=False).acquire()
    except filelock.Timeout as error:
        raise FileError(f"another process is training in {folder}; wait for it, or choose another folder") from error
    except NotImplementedError as error:
        raise FileError(f"{folder} is on a file system without locks; choose a folder on another") from error
    with lock:
        for place in (folder, model):
            remove_leftovers(place)
        yield


@contextmanager
def stop_when_asked() -> Iterator[list[object]]:
    """Within it, SIGINT (Ctrl-C), SIGTERM and SIGHUP (closed terminal) only ask to stop. Gives a list of what
    has asked.

    A second SIGINT or SIGTERM has its normal effect. The system sends SIGHUP several times, so it always only asks. An
    ignored signal, as SIGHUP under nohup, stays ignored. Python receives signals only in the main thread.
    """
    asked: list[object] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in _ASKING if signal.getsignal(number) != signal.SIG_IGN}

    def ask(number: int, _: object) -> None:
        asked.append(number)
        if number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, before[signal.Signals(number)])

    try:
        for number in before:
            signal.signal(number, ask)
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
