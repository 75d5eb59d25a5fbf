"""Run: the state of a run and its folder, from which the run continues as if it had never stopped."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

from npbert.blocks import Encoder
from npbert.core import Layer, named_parts
from npbert.io.errors import Setting, at_least
from npbert.io.extras import import_extra
from npbert.io.files import FileError, naming, remove_leftovers
from npbert.io.json_lines import LAYERS_FILE, METRICS_FILE, SHOWN_FILE
from npbert.models import TaskModel
from npbert.models.hugging_face.checkpoint import find_weights, load_model
from npbert.models.hugging_face.names import stored_parameters
from npbert.models.hugging_face.tensors import TensorFile
from npbert.optim import AdamW, linear_warmup_decay
from npbert.training.evaluation import Evaluation
from npbert.training.finite import check_parameters
from npbert.training.log import EVENTS_FOLDER
from npbert.training.parallel import ALONE, Communicator
from npbert.training.progress import Data, Progress
from npbert.training.reads import differences, digests
from npbert.training.settings import SETTINGS_FILE, TrainerSettings
from npbert.training.shares import Shares
from npbert.training.state_file import read_state, write_state

STATE_FILE, MODEL_FOLDER, LOCK_FILE = "state.safetensors", "model", ".lock"
FREE = ("keep_state",)
"""Settings that may change when a run continues: they do not affect its numbers."""
LENGTH = ("steps", "epochs", "patience")
"""Settings of the end of a run: they may change when it continues, and its learning rate follows them."""
_VALUE, _SHOWN = "value", 3


class Run:
    """The model, the data, the settings, the progress and the folder of a run. Arguments and errors: as in Trainer.

    Several processes call a method together, and process 0 writes.
    """

    def __init__(
        self,
        model: TaskModel,
        data: Data,
        folder: str | Path,
        settings: TrainerSettings,
        *,
        rng: np.random.Generator,
        evaluation: Evaluation | None = None,
        save_model: Callable[[Path], None] | None = None,
        communicator: Communicator = ALONE,
    ) -> None:
        self.recorded, self.evaluation = settings, evaluation or Evaluation()
        settings = replace(settings, steps=settings.steps_for(data))
        at_least(1).check("steps", settings.steps)
        self.settings = settings.with_interval(self.evaluation.cost, is_judged=evaluation is not None)
        self.model, self.data, self.folder, self.rng = model, data, Path(folder), rng
        self.communicator = communicator
        if settings.gradient_checkpointing:
            _checkpoint_layers(model)
        self.shares = Shares(model, communicator)
        self.optimizer = AdamW(self.shares.parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
        self.progress = Progress(0, int(rng.integers(2**63)), total_steps=settings.steps)
        stored_parameters(model)  # fail now for unsaveable parameters, not after the last step
        self.save_model = save_model or partial(model.save_pretrained, overwrite=True)
        self.reads: dict[str, str] = {}
        self.state_file, self.model_folder = self.folder / STATE_FILE, self.folder / MODEL_FOLDER

    @property
    def step(self) -> int:
        """Return the count of updates so far."""
        return self.optimizer.steps

    @property
    def is_finished(self) -> bool:
        """True after the last step, or when patience has run out."""
        patience = self.settings.patience
        return self.step >= self.settings.steps or 0 < patience <= self.progress.evaluations_since_best

    def learning_rate(self, total_steps: int) -> float:
        """Return the learning rate of the next step in a run of `total_steps`."""
        peak, warmup = self.settings.learning_rate, int(self.settings.warmup * total_steps)
        return linear_warmup_decay(self.step, lr=peak, warmup_steps=warmup, total_steps=total_steps)

    def look_at_data(self) -> None:
        """Note the sources of this run in `reads` before it begins. Raises: OSError for a missing file."""
        config = {"configuration of the model": repr(self.model.config)} if hasattr(self.model, "config") else {}
        self.reads = digests({**config, **self.evaluation.reads})

    def forget(self) -> None:
        """Delete the state and the rows of the run in the folder, so that this run starts from step 0."""
        for name in (STATE_FILE, METRICS_FILE, LAYERS_FILE, SHOWN_FILE):
            (self.folder / name).unlink(missing_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder for this process. The system unlocks it when the process ends, even by a crash. (Extra:
        train.)

        Raises: FileError if another process has the folder, if its file system has no locks, or if a model of no run
        would be overwritten in model/; OSError.
        """
        folder = self.folder
        if self.model_folder.is_dir() and any(self.model_folder.iterdir()) and not (folder / SETTINGS_FILE).exists():
            wrong = "has files of something else, which would be overwritten"
            raise FileError(f"{self.model_folder} {wrong}: choose another folder")
        for place in (self.model_folder, folder / EVENTS_FOLDER, folder / LOCK_FILE):
            if place.is_symlink():  # all other files are replaced by new ones, links too
                raise FileError(f"{place} is a link, wanted a folder, as a run writes only into its own")
        filelock = import_extra("filelock", extra="train")
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with naming(folder / LOCK_FILE):
                lock = filelock.FileLock(folder / LOCK_FILE, blocking=False).acquire()
        except filelock.Timeout as error:
            raise FileError(
                f"another process is training in {folder}; wait for it, or choose another folder"
            ) from error
        except NotImplementedError as error:
            raise FileError(f"{folder} is on a file system without locks; choose a folder on another") from error
        with lock:
            for place in (folder, self.model_folder):
                remove_leftovers(place)
            yield

    def save(self) -> None:
        """Write the state: the parameters, the optimizer's arrays, and the progress. A crash leaves the old file
        whole. Raises: NotFiniteError for a parameter that is not finite."""
        check_parameters(self.model, self.step)
        moments = self.shares.moments(self.optimizer)
        if not self.communicator.is_first:
            return
        values = {f"{_VALUE}.{name}": parameter.value for name, parameter in self.model.named_parameters()}
        head = {
            "steps": self.step,
            "rng": self.rng.bit_generator.state,
            "progress": vars(self.progress),
            "settings": self._settings(),
            "reads": self.reads,
        }
        write_state(self.state_file, head, {**values, **moments})

    def restore(self, *, changed_data: bool = False) -> str:
        """Restore the state, bit for bit: the arrays, the progress and the generator; from a wrong state nothing. After
        drop_tensors, the model is the best one. Return a line that names the changes.

        changed_data: continue with other data; earlier measurements no longer count.

        Raises: FileNotFoundError; FileError with the file if it is damaged, not a state, of another run, model or
        optimizer, or if the data differ.
        """
        file, head = read_state(self.state_file)
        try:
            steps, rng, settings, reads = (head[name] for name in ("steps", "rng", "settings", "reads"))
            progress = Progress(**head["progress"])
        except (LookupError, TypeError) as error:
            raise FileError(f"{self.state_file} is of another version of npbert: {error}") from error
        if others := differences(settings, self._settings()):
            says = f"{self.folder} has a run with other settings, {others[0]}"
            raise FileError(says, hint="to continue it, give its settings; for a new run, choose another folder")
        changes = "; ".join(differences(reads, self.reads)[:_SHOWN])
        if changes and not changed_data:
            says = f"{self.folder} has a run with other data: {changes}"
            raise FileError(says, hint=("to continue with the new data, give ", Setting("changed_data")))
        if file.shapes:
            self._fill(file)
        else:
            load_model(lambda _: self.model, find_weights(self.model_folder), rng=self.rng, new_head=False)
        if changes:
            total = progress.total_steps
            progress = Progress(progress.epoch, progress.epoch_seed, progress.place, total_steps=total)
        self.optimizer.steps, self.progress, self.rng.bit_generator.state = steps, progress, rng
        return f"changed since the start of the run: {changes}" if changes else ""

    def _settings(self) -> dict[str, object]:
        """Return the settings that must stay when a run continues, as JSON has them."""
        known = {name: each for name, each in asdict(self.recorded).items() if name not in FREE + LENGTH}
        return {name: list(each) if isinstance(each, tuple) else each for name, each in known.items()}

    def _fill(self, file: TensorFile) -> None:
        """Fill the model and the optimizer from the file, or neither."""
        values = {name: parameter.value for name, parameter in self.model.named_parameters()}
        places = {f"{_VALUE}.{name}": (value, slice(None), value) for name, value in values.items()}
        for kind, arrays in self.optimizer.moments().items():
            for (name, value), stretch, array in zip(values.items(), self.shares.own, arrays, strict=True):
                places[f"{kind}.{name}"] = value, stretch, array
        wanted = {name: f"F{8 * value.itemsize} {value.shape}" for name, (value, _, _) in places.items()}
        found = {name: f"{file.dtypes[name]} {shape}" for name, shape in file.shapes.items()}
        if others := differences(found, wanted):
            raise FileError(f"{file.path} is the state of another model or optimizer: {others[0]}")
        for name, (_, stretch, array) in places.items():
            array[...] = file.read(name).reshape(-1)[stretch].reshape(array.shape)


def _checkpoint_layers(model: Layer) -> None:
    """Let every Encoder of a model compute its layers again in backward. Raises: ValueError for a model without
    Encoder."""
    encoders = [part for _, part in named_parts(model) if isinstance(part, Encoder)]
    if not encoders:
        raise ValueError(f"gradient_checkpointing is True, wanted False, as {type(model).__name__} has no Encoder")
    for encoder in encoders:
        encoder.gradient_checkpointing = True
