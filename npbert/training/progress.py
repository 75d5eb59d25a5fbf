"""The place of a run, besides its arrays: the step that it makes and who looks on; and the progress that is kept: the
place in its data, what its evaluations gave, and its averages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple, Protocol

import numpy as np

from npbert.data.batch import Batch
from npbert.data.task_data import START, Position
from npbert.training.accumulate import StepLosses


class Data(Protocol):
    """Data for a Trainer: PretrainingData, TaskData, or anything else with these batches."""

    def batches(self, epoch_seed: int, place: Position = START) -> Iterator[tuple[Position, Batch]]:
        """The batches of an epoch from `place` on, each with its place; the same ones for the same seed."""


class Step(NamedTuple):
    """One step: its number, from 1 on, the batch, the losses, the norm of the gradient, and how long it took.

    seed: where the dropout of the batch was drawn from, as in `gradients_of`.
    """

    number: int
    batch: Batch
    seed: Sequence[int]
    losses: StepLosses
    gradient_norm: float
    learning_rate: float
    seconds: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        """The real tokens of the batch in a second."""
        return int(self.batch.attention_mask.sum()) / self.seconds


class Watcher:
    """Something that looks on at each step: it logs, judges or saves, and leaves the model as it is."""

    def before_update(self, step: Step) -> None:
        """The gradients are whole, and the parameters are about to change."""

    def after(self, step: Step) -> None:
        """The step is done."""


@dataclass
class Averages:
    """Sums over steps, by name: of losses and of right targets, and of the targets that they are shared by."""

    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kinds: tuple[str, ...], step: StepLosses) -> None:
        """Add the losses of a step, whose kinds have these names."""
        for index, kind in enumerate(kinds):
            prefix = f"{kind}_" if kind else ""
            count = step.counts[index]
            self._add(f"{prefix}loss", step.losses[index] * count, count)
            if step.right is not None:
                self._add(f"{prefix}accuracy", step.right[index], count)

    def means(self) -> dict[str, float]:
        """The mean over the targets by name; `loss` is the sum of the means where there are several kinds."""
        means = {name: value / self.counts[name] for name, value in self.sums.items()}
        if not means or "loss" in means:
            return means
        return {"loss": sum(value for name, value in means.items() if name.endswith("_loss")), **means}

    def _add(self, name: str, value: float, count: int) -> None:
        self.sums[name] = self.sums.get(name, 0.0) + value
        self.counts[name] = self.counts.get(name, 0) + count


@dataclass
class Progress:
    """The epoch, with the seed of its order and the place of the next batch in it; what the evaluations gave; the
    sums since the last line of the log; and how many steps the run is to have, which may change when it goes on."""

    epoch: int
    epoch_seed: int
    place: Position = START
    best: float | None = None
    best_step: int = 0
    best_evaluation: dict[str, float] = field(default_factory=dict)
    evaluations_since_best: int = 0
    evaluation: dict[str, float] = field(default_factory=dict)
    averages: Averages = field(default_factory=Averages)
    total_steps: int = 0

    def batches(self, data: Data, rng: np.random.Generator) -> Iterator[Batch]:
        """Batches without end, epoch after epoch; `place` is where the next one is.

        Raises: ValueError for data without a batch.
        """
        while True:
            is_empty = self.place == START
            for place, batch in data.batches(self.epoch_seed, self.place):
                is_empty = False
                self.place = place._replace(batch=place.batch + 1)
                yield batch
            if is_empty:
                raise ValueError("the training data has no batches")
            self.epoch, self.place = self.epoch + 1, START
            self.epoch_seed = int(rng.integers(2**63))

    def stored(self) -> dict[str, object]:
        """All of it as numbers, strings, lists and dicts."""
        return asdict(self)

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> Progress:
        """The progress that `stored` gave, from a file that anybody may have written to.

        Raises: ValueError that names what is missing, unknown or of another type.
        """
        stored = {"total_steps": 0, **stored}  # earlier versions did not say
        kinds = {entry.name: str(entry.type) for entry in fields(cls)}
        for name in sorted(kinds.keys() ^ stored.keys()):
            raise ValueError(f"{name} is {'missing' if name in kinds else 'unknown'}")
        for name, kind in kinds.items():
            if not _fits(stored[name], kind):
                raise ValueError(f"{name} is {stored[name]!r}")
        place, averages = Position(*stored["place"]), Averages(**stored["averages"])
        return cls(**{**stored, "place": place, "averages": averages})


def _fits(value: Any, kind: str) -> bool:
    """True if a value from a file is of a field's type, as it is written above; whole numbers are counts."""
    if kind in ("int", "float"):
        is_number = isinstance(value, int if kind == "int" else int | float) and not isinstance(value, bool)
        return is_number and (kind == "float" or value >= 0)
    if kind == "float | None":
        return value is None or _fits(value, "float")
    if kind == "Position":
        is_place = isinstance(value, list | tuple) and len(value) == len(START)
        return is_place and all(_fits(each, "int") for each in value)
    if kind == "Averages":
        kinds = {entry.name: str(entry.type) for entry in fields(Averages)}
        are_right = isinstance(value, dict) and value.keys() == kinds.keys()
        are_right = are_right and all(_fits(value[name], kind) for name, kind in kinds.items())
        return are_right and value["sums"].keys() == value["counts"].keys()
    of = kind.removeprefix("dict[str, ").removesuffix("]")
    return isinstance(value, dict) and all(_fits(each, of) for each in value.values())
