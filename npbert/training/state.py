"""The folder of a run, which one process works on; and its state in one file, from which it goes on as if it had never
stopped."""

import errno
import json
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Layer
from npbert.io.extras import import_extra
from npbert.io.files import FileError, atomic_write, naming, remove_leftovers
from npbert.models.hugging_face.checkpoint import find_weights, load_model
from npbert.models.hugging_face.names import stored_parameters
from npbert.models.hugging_face.tensors import TensorFile, is_finite, write_tensors
from npbert.optim import Optimizer
from npbert.training.log import EVENTS_FOLDER
from npbert.training.parallel import Shares
from npbert.training.progress import Progress
from npbert.training.settings import SETTINGS_FILE, Settings

STATE_FILE, MODEL_FOLDER = "state.safetensors", "model"
LOCK_FILE = ".lock"
FREE = ("keep_state",)
"""Settings that may be others when a run goes on: they change nothing that it computes."""
LENGTH = ("steps", "epochs", "patience")
"""Settings that say when a run ends: they may be others when it goes on, and its learning rate follows them."""
_KEY, _VALUE = "npbert", "value"


@contextmanager
def run_folder(folder: Path) -> Iterator[None]:
    """While it lasts, `folder` is that of a run, and of this process.

    The system ends the lock when the process ends, in whatever way. (Extra: train.)

    Raises: FileError when another process has the folder, or it holds in model/ a model that is of no run, and that
    would be overwritten; OSError, also for a file system without locks.
    """
    model = folder / MODEL_FOLDER
    if model.is_dir() and any(model.iterdir()) and not (folder / SETTINGS_FILE).exists():
        wrong = "holds files that are of no run of npbert, and would be overwritten"
        raise FileError(f"{model} {wrong}: choose another folder")
    for place in (model, folder / EVENTS_FOLDER, folder / LOCK_FILE):
        if place.is_symlink():  # of all other files, a new one takes the place of a link
            raise FileError(f"{place} is a link, and a run writes into its own folder alone: put a folder there")
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
        yield


@dataclass
class SavedRun:
    """The state and the best model of a run in `folder`. Several processes call it together, and process 0 writes.

    save_model: writes the model to a folder.
    Raises: ValueError for a model that could not be saved, as two of its parameters would have one name in the file.
    """

    folder: Path
    model: Layer
    optimizer: Optimizer
    shares: Shares
    rng: np.random.Generator
    settings: Settings
    save_model: Callable[[Path], None]

    def __post_init__(self) -> None:
        stored_parameters(self.model)  # what cannot be saved is found now, and not after the last step
        self.path, self._model_folder = self.folder / STATE_FILE, self.folder / MODEL_FOLDER
        known = {name: value for name, value in asdict(self.settings).items() if name not in FREE + LENGTH}
        self._settings = json.loads(json.dumps(known))  # as they come back

    def save(self, progress: Progress) -> None:
        """Write the state: the parameters, what the optimiser remembers, and the progress. The file is whole or not
        there at all: a crash leaves the one before it."""
        moments = self.shares.moments(self.optimizer)
        if not self.shares.communicator.is_first:
            return
        known = {"rng": self.rng.bit_generator.state, "settings": self._settings}
        head = {"steps": self.optimizer.steps, "progress": {**progress.stored(), **known}}
        with atomic_write(self.path) as written:
            values = {f"{_VALUE}.{name}": value for name, value in _values(self.model).items()}
            write_tensors(written, {**values, **moments}, {_KEY: json.dumps(head)})

    def restore(self) -> Progress:
        """Go on from the state, bit for bit: the arrays, the progress and the generator, or, if it is wrong, nothing of
        it. Where drop_tensors has left no arrays, the model is the best one.

        Raises: FileNotFoundError; FileError that names the file when it is damaged, not a state, or that of another
        run, model or optimiser.
        """
        path, file = self.path, TensorFile(self.path)
        steps, stored = _read_head(file)
        settings = stored.pop("settings", self._settings)  # earlier versions did not say
        for name in {**settings, **self._settings}:
            ours, theirs = self._settings.get(name), settings.get(name)
            if ours != theirs:
                raise FileError(
                    f"{self.folder} holds a run with other settings, {name} = {theirs!r} and not {ours!r}: to go on "
                    f"with it, give its own; for a new run, another folder"
                )
        rng = stored.pop("rng", None)
        try:
            progress = Progress.from_stored(stored)
            self.rng.bit_generator.state = rng
        except (ValueError, TypeError, LookupError, OverflowError, AttributeError) as error:
            raise FileError(f"{path} is damaged, or of another version of npbert: {error}") from error
        if file.shapes:
            self._fill(file)
        else:
            load_model(lambda _: self.model, find_weights(self._model_folder), rng=self.rng, new_head=False)
        self.optimizer.steps = steps
        return progress

    def _fill(self, file: TensorFile) -> None:
        """Fill the model and the optimiser from the file, or neither."""
        values, moments = _values(self.model), self.optimizer.moments()
        found = {name: f"{file.dtypes[name]} {shape}" for name, shape in file.shapes.items()}
        shapes = {name: f"F{8 * value.itemsize} {value.shape}" for name, value in values.items()}
        wanted = {f"{kind}.{name}": shape for kind in (_VALUE, *moments) for name, shape in shapes.items()}
        if wanted != found:
            name = next(name for name in {**wanted, **found} if wanted.get(name) != found.get(name))
            raise FileError(
                f"{file.path} is the state of another model or optimiser: {name} is {found.get(name, 'missing')} "
                f"there, and {wanted.get(name, 'missing')} here"
            )
        places = {f"{_VALUE}.{name}": (slice(None), value) for name, value in values.items()} | {
            f"{kind}.{name}": (stretch, array)
            for kind, arrays in moments.items()
            for name, stretch, array in zip(values, self.shares.own, arrays, strict=True)
        }
        for name in places:
            if not is_finite(file.read(name)):
                raise FileError(f"{file.path} is damaged: {name} holds a number that is not finite")
        for name, (stretch, array) in places.items():
            array[...] = file.read(name).reshape(-1)[stretch].reshape(array.shape)

    def save_best(self) -> None:
        """Write the model, which is the best so far."""
        if self.shares.communicator.is_first:
            self.save_model(self._model_folder)

    def finish(self, progress: Progress, *, keep_state: bool) -> None:
        """Make sure that there is a model in model/, which somebody may have moved away, and drop the state if it is
        not to be kept."""
        if not self.shares.communicator.is_first:
            return
        if progress.best_step and not self._model_folder.is_dir():
            if progress.best_step == self.optimizer.steps:
                self.save_best()
            else:
                warnings.warn(
                    f"{self._model_folder} is gone: it held the best model, that of step {progress.best_step}, which "
                    "the state does not hold",
                    stacklevel=4,
                )
        if not keep_state and has_tensors(self.path):
            drop_tensors(self.path)


def drop_tensors(path: Path) -> None:
    """Keep of the state only how far the run is: a finished run needs no more, and nearly all of the file is free."""
    metadata = TensorFile(path).metadata
    with atomic_write(path) as written:
        write_tensors(written, {}, metadata)


def has_tensors(path: Path) -> bool:
    """True if the state is whole, and not what drop_tensors has left of it."""
    return bool(TensorFile(path).shapes)


def _read_head(file: TensorFile) -> tuple[int, dict[str, Any]]:
    """The count of steps, and the progress."""
    try:
        stored = json.loads(file.metadata[_KEY])
        steps, progress = stored["steps"], stored["progress"]
        are_dicts = isinstance(progress, dict) and isinstance(progress.get("settings", {}), dict)
        if type(steps) is not int or steps < 0 or not are_dicts:
            raise ValueError("steps, progress or settings of another type")
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise FileError(f"{file.path} is not a training state of npbert") from error
    return steps, progress


def _values(model: Layer) -> dict[str, Array]:
    return {name: parameter.value for name, parameter in model.named_parameters()}
