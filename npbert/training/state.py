"""RunFolder: the folder of a run, which one process works on, with its state, from which the run goes on as if it had
never stopped, and its best model."""

import errno
import json
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npbert.compute import Array
from npbert.core import Layer
from npbert.io.extras import import_extra
from npbert.io.files import FileError, atomic_write, naming, remove_leftovers
from npbert.models.hugging_face.checkpoint import find_weights, load_model
from npbert.models.hugging_face.names import stored_parameters
from npbert.models.hugging_face.tensors import TensorFile, is_finite, write_tensors
from npbert.training.log import EVENTS_FOLDER
from npbert.training.progress import Progress, fits
from npbert.training.settings import SETTINGS_FILE

if TYPE_CHECKING:
    from npbert.training.trainer import Trainer

STATE_FILE, MODEL_FOLDER, LOCK_FILE = "state.safetensors", "model", ".lock"
FREE = ("keep_state",)
"""Settings that may be others when a run goes on: they change nothing that it computes."""
LENGTH = ("steps", "epochs", "patience")
"""Settings that say when a run ends: they may be others when it goes on, and its learning rate follows them."""
_KEY, _VALUE = "npbert", "value"


class RunFolder:
    """The folder of a Trainer's run. Several processes call it together, and process 0 writes.

    save_model: writes the model to a folder.
    Raises: ValueError for a model that could not be saved, as two of its parameters would have one name in the file.
    """

    def __init__(self, trainer: "Trainer", save_model: Callable[[Path], None]) -> None:
        stored_parameters(trainer.model)  # what cannot be saved is found now, and not after the last step
        self.trainer, self.save_model = trainer, save_model
        self.state, self.model = trainer.folder / STATE_FILE, trainer.folder / MODEL_FOLDER
        known = {name: value for name, value in asdict(trainer.recorded).items() if name not in FREE + LENGTH}
        self._settings = json.loads(json.dumps(known))  # as they come back

    @contextmanager
    def locked(self) -> Iterator[None]:
        """While it lasts, the folder is this process's; the system ends that when the process ends, in whatever way.
        (Extra: train.)

        Raises: FileError when another process has the folder, or it holds in model/ a model that is of no run, and that
        would be overwritten; OSError, also for a file system without locks.
        """
        folder = self.trainer.folder
        if self.model.is_dir() and any(self.model.iterdir()) and not (folder / SETTINGS_FILE).exists():
            wrong = "holds files that are of no run of npbert, and would be overwritten"
            raise FileError(f"{self.model} {wrong}: choose another folder")
        for place in (self.model, folder / EVENTS_FOLDER, folder / LOCK_FILE):
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
            for place in (folder, self.model):
                remove_leftovers(place)
            yield

    def save(self) -> None:
        """Write the state: the parameters, what the optimizer remembers, and the progress. The file is whole or not
        there at all: a crash leaves the one before it."""
        trainer = self.trainer
        moments = trainer.shares.moments(trainer.optimizer)
        if not trainer.communicator.is_first:
            return
        known = {"rng": trainer.rng.bit_generator.state, "settings": self._settings}
        head = {"steps": trainer.step, "progress": {**trainer.progress.stored(), **known}}
        values = {f"{_VALUE}.{name}": value for name, value in _values(trainer.model).items()}
        with atomic_write(self.state) as written:
            write_tensors(written, {**values, **moments}, {_KEY: json.dumps(head)})

    def restore(self) -> None:
        """Go on from the state, bit for bit: the arrays, the progress and the generator, or, if it is wrong, nothing of
        it. Where drop_tensors has left no arrays, the model is the best one.

        Raises: FileNotFoundError; FileError that names the file when it is damaged, not a state, or that of another
        run, model or optimizer.
        """
        trainer, file = self.trainer, TensorFile(self.state)
        steps, stored = _read_head(file)
        settings = stored.pop("settings", self._settings)  # earlier versions did not say
        for name in {**settings, **self._settings}:
            ours, theirs = self._settings.get(name), settings.get(name)
            if ours != theirs:
                raise FileError(
                    f"{trainer.folder} holds a run with other settings, {name} = {theirs!r} and not {ours!r}: to go on "
                    f"with it, give its own; for a new run, another folder"
                )
        rng = stored.pop("rng", None)
        try:
            progress = Progress.from_stored(stored)
            trainer.rng.bit_generator.state = rng
        except (ValueError, TypeError, LookupError, OverflowError, AttributeError) as error:
            raise FileError(f"{self.state} is damaged, or of another version of npbert: {error}") from error
        if file.shapes:
            self._fill(file)
        else:
            load_model(lambda _: trainer.model, find_weights(self.model), rng=trainer.rng, new_head=False)
        trainer.optimizer.steps, trainer.progress = steps, progress

    def _fill(self, file: TensorFile) -> None:
        """Fill the model and the optimizer from the file, or neither."""
        shares, moments = self.trainer.shares, self.trainer.optimizer.moments()
        values = _values(self.trainer.model)
        places = {f"{_VALUE}.{name}": (value, slice(None), value) for name, value in values.items()}
        for kind, arrays in moments.items():
            for (name, value), stretch, array in zip(values.items(), shares.own, arrays, strict=True):
                places[f"{kind}.{name}"] = value, stretch, array
        wanted = {name: f"F{8 * value.itemsize} {value.shape}" for name, (value, _, _) in places.items()}
        found = {name: f"{file.dtypes[name]} {shape}" for name, shape in file.shapes.items()}
        for name in {**wanted, **found}:
            if wanted.get(name) != found.get(name):
                there, here = found.get(name, "missing"), wanted.get(name, "missing")
                says = f"is the state of another model or optimizer: {name} is {there} there, and {here} here"
                raise FileError(f"{file.path} {says}")
        for name in places:
            if not is_finite(file.read(name)):
                raise FileError(f"{file.path} is damaged: {name} holds a number that is not finite")
        for name, (_, stretch, array) in places.items():
            array[...] = file.read(name).reshape(-1)[stretch].reshape(array.shape)

    def save_best(self) -> None:
        """Write the model, which is the best so far."""
        if self.trainer.communicator.is_first:
            self.save_model(self.model)

    def finish(self) -> None:
        """Make sure that there is a model in model/, which somebody may have moved away, and drop the state if it is
        not to be kept."""
        trainer, best_step = self.trainer, self.trainer.progress.best_step
        if not trainer.communicator.is_first:
            return
        if best_step == trainer.step and not self.model.is_dir():
            self.save_best()
        elif best_step and not self.model.is_dir():
            held = f"it held the best model, that of step {best_step}, which the state does not hold"
            warnings.warn(f"{self.model} is gone: {held}", stacklevel=4)
        if not trainer.settings.keep_state and has_tensors(self.state):
            drop_tensors(self.state)


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
        if not fits(steps, 0) or not are_dicts:
            raise ValueError("steps, progress or settings of another type")
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise FileError(f"{file.path} is not a training state of npbert") from error
    return steps, progress


def _values(model: Layer) -> dict[str, Array]:
    return {name: parameter.value for name, parameter in model.named_parameters()}
