"""Resumable: the state of a run, from which it continues as if it had never stopped."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from npbert.blocks import Encoder
from npbert.compute import Array
from npbert.core import Layer, named_parts
from npbert.data import Batch
from npbert.data.batch import START, Position
from npbert.io import ALONE, Communicator, FileError, Setting, as_file_error, atomic_write
from npbert.models import TaskModel
from npbert.models.hugging_face.names import stored_parameters
from npbert.models.hugging_face.tensors import TensorFile, write_tensors
from npbert.optim import AdamW, linear_warmup_decay
from npbert.training.accumulate import StepLosses
from npbert.training.parallel import Shares
from npbert.training.settings import TrainerSettings, differences
from npbert.training.watchers import Data, Evaluation, Watcher

STATE_FILE, MODEL_FOLDER = "state.safetensors", "model"
LENGTH = ("steps", "epochs", "patience")
"""Settings of the end of a run: they may change when it continues, and its learning rate follows them."""
_SHOWN = 3
_KEY, _CHECKSUM = "npbert", "sha256"


class NotFiniteError(FloatingPointError):
    """The loss, a gradient or a parameter is not finite."""


def check_parameters(model: Layer, step: int) -> None:
    """Raise NotFiniteError for the first parameter that is not finite after the update of this step."""
    for name, parameter in model.named_parameters():
        if not np.isfinite(parameter.value).all():
            raise NotFiniteError(f"the parameter {name} is not finite after step {step}; try a smaller learning rate")


@dataclass
class Progress:
    """The progress of a run: its seed; the epoch, whose order has the seed `seed + epoch`; the place of the next batch,
    a `Position` (the number of its group, and its number in the group); the results of evaluations; the losses since
    the last line of the log; and the number of steps, which may change when it continues."""

    seed: int
    epoch: int = 0
    place: Position = START
    best_step: int = 0
    best_evaluation: dict[str, float] = field(default_factory=dict)
    evaluations_since_best: int = 0
    losses: list[StepLosses] = field(default_factory=list)
    total_steps: int = 0

    def batches(self, data: Data) -> Iterator[Batch]:
        """Yield batches without end, epoch after epoch, and keep `place` at the next one.

        The data draw the order of an epoch again from its seed, and skip the batches before `place`. Raises: ValueError
        for data without a batch.
        """
        while True:
            for place, batch in data.batches(self.seed + self.epoch, self.place):
                self.place = place._replace(batch=place.batch + 1)
                yield batch
            if self.place == START:
                raise ValueError("the training data has no batches")
            self.epoch, self.place = self.epoch + 1, START


class Resumable:
    """The model, the data, the settings and the progress of a run, in its folder. Arguments and errors: as in Trainer.

    Several processes call a method together, and process 0 writes.

    watchers: made by `session` at the start of each `train`, which replaces what is there; called with each step after
    its evaluation, before the state is saved, and with a step that is not finite. For code of your own after each step,
    see docs/in_short.md.
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
        self.model, self.data, self.folder = model, data, Path(folder)
        self.settings, self.communicator, self.evaluation = settings, communicator, evaluation or Evaluation()
        for _, part in named_parts(model):
            if isinstance(part, Encoder):
                part.gradient_checkpointing |= settings.gradient_checkpointing
        self.shares = Shares(model, communicator)
        self.optimizer = AdamW(self.shares.parameters, weight_decay=settings.weight_decay)
        self.progress = Progress(int(rng.integers(2**63)), total_steps=settings.steps_for(data))
        self.evaluate_every = settings.interval(self.progress.total_steps, self.evaluation.cost)
        stored_parameters(model)  # fail now for unsaveable parameters, not after the last step
        self.save_model = save_model or partial(model.save_pretrained, overwrite=True)
        self.inputs: dict[str, str] = {}
        self.watchers: list[Watcher] = []

    @property
    def step(self) -> int:
        """Return the count of updates so far."""
        return self.optimizer.steps

    @property
    def is_finished(self) -> bool:
        """True after the last step, or when patience has run out."""
        patience = self.settings.patience
        return self.step >= self.progress.total_steps or 0 < patience <= self.progress.evaluations_since_best

    @property
    def learning_rate(self) -> float:
        """Return the learning rate of the next step."""
        settings, total = self.settings, self.progress.total_steps
        warmup = int(settings.warmup * total)
        return linear_warmup_decay(self.step, lr=settings.learning_rate, warmup_steps=warmup, total_steps=total)

    def save(self) -> None:
        """Write the state: the parameters, the optimizer's arrays, and the progress. A crash leaves the old file
        whole. Raises: NotFiniteError for a parameter that is not finite."""
        check_parameters(self.model, self.step)
        tensors: dict[str, Array] = {}
        for kind, own in self._arrays().items():
            whole = self.shares.whole(own)
            if self.communicator.is_first:
                tensors |= {f"{kind}.{name}": array for name, array in zip(self.shares.names, whole, strict=True)}
        if self.communicator.is_first:
            head = {
                "steps": self.step,
                "progress": vars(self.progress),
                "settings": self._settings(),
                "reads": self.inputs,
            }
            write_state(self.folder / STATE_FILE, head, tensors)

    def restore(self, *, changed_data: bool = False) -> str:
        """Restore the state, bit for bit: the arrays and the progress. Return a line on where the run continues.

        changed_data: continue with other data; earlier measurements no longer count.

        Raises: FileNotFoundError; FileError with the file if it is damaged, not a state, of another run, model or
        optimizer, or if the data differ; FileError if the run is already further.
        """
        folder, total = self.folder, self.progress.total_steps
        file, head = read_state(folder / STATE_FILE)
        with as_file_error(f"{file.path} is of another version of npbert"):
            steps, settings, reads = (head[name] for name in ("steps", "settings", "reads"))
            progress = Progress(**head["progress"])
            progress.place = Position(*progress.place)  # a list in JSON
        if others := differences(settings, self._settings()):
            fix = "to continue it, give its settings; for a new run, choose another folder"
            raise FileError(f"{folder} has a run with other settings, {others[0]}; {fix}")
        changes = "; ".join(differences(reads, self.inputs)[:_SHOWN])
        if changes and not changed_data:
            fix = f"to continue with the new data, give {Setting('changed_data')}"
            raise FileError(f"{folder} has a run with other data: {changes}; {fix}")
        before = progress.total_steps
        if changes:
            progress = Progress(progress.seed, progress.epoch, progress.place)
        progress.total_steps = total
        self._fill(file)
        self.optimizer.steps, self.progress = steps, progress
        if self.is_finished and (changes or total < before):
            raise FileError(f"the run in {folder} is already at step {steps}; to continue it, give more steps")
        if self.is_finished:
            return f"the run in {folder} ended at step {steps}; to continue, give more steps or more patience"
        news = f"continuing from step {steps} of {total}"
        return f"{news}; changed since the start of the run: {changes}" if changes else news

    def _settings(self) -> dict[str, str]:
        """Return the settings that must stay when a run continues, as text."""
        return {name: str(value) for name, value in asdict(self.settings).items() if name not in LENGTH}

    def _arrays(self) -> dict[str, list[Array]]:
        """Return the arrays of this process's share: the values, and the optimizer's moments, by kind."""
        return {"value": [each.value for each in self.shares.parameters], **self.optimizer.moments()}

    def _fill(self, file: TensorFile) -> None:
        """Fill the model and the optimizer from the file, or neither."""
        arrays, shares, wanted = self._arrays(), self.shares, {}
        for kind in arrays:
            for name, parameter in self.model.named_parameters():
                wanted[f"{kind}.{name}"] = f"F{8 * parameter.value.itemsize} {parameter.value.shape}"
        found = {name: f"{file.dtypes[name]} {shape}" for name, shape in file.shapes.items()}
        if others := differences(found, wanted):
            raise FileError(f"{file.path} is the state of another model or optimizer: {others[0]}")
        for kind, own in arrays.items():
            whole = (file.read(f"{kind}.{name}") for name in shares.names)
            for array, part in zip(own, shares.cut(whole, self.communicator.rank), strict=True):
                array[...] = part.reshape(array.shape)
        shares.spread("value")


def write_state(path: Path, head: Mapping[str, object], tensors: Mapping[str, Array]) -> None:
    """Write a state, whole or not at all: a JSON header, tensors, and a checksum of both, which detects a single
    changed bit."""
    checksum = _checksum(head, tensors, tensors.__getitem__)
    with atomic_write(path) as written:
        write_tensors(written, tensors, {_KEY: json.dumps({**head, _CHECKSUM: checksum})})


def read_state(path: Path) -> tuple[TensorFile, dict[str, Any]]:
    """Return the tensors and the header of a state.

    Raises: FileNotFoundError; FileError if it is damaged or not a state.
    """
    file = TensorFile(path)
    with as_file_error(f"{path} is not a training state of npbert"):
        head = json.loads(file.metadata[_KEY])
        checksum = head.pop(_CHECKSUM)
    if checksum != _checksum(head, file.shapes, file.read):
        raise FileError(f"{path} is damaged: its checksum is wrong")
    return file, head


def _checksum(head: Mapping[str, object], names: Iterable[str], read: Callable[[str], Array]) -> str:
    found = sha256(json.dumps(head).encode())
    for name in sorted(names):
        found.update(name.encode())
        found.update(read(name).data)
    return found.hexdigest()
