"""The events of a run: its steps, its watchers, and its saved progress."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np

from npbert.data.batch import Batch
from npbert.data.task_data import START, Position
from npbert.io.errors import count_from
from npbert.training.accumulate import StepLosses


class Data(Protocol):
    """Data for a Trainer: PretrainingData, TaskData, or any class with these batches."""

    def batches(self, epoch_seed: int, place: Position = START) -> Iterator[tuple[Position, Batch]]:
        """Yield the batches of an epoch from `place` on, each with its place; the same for the same seed."""


@dataclass
class Step:
    """A step: its number, from 1 on, the batch, the losses, and the norm of the gradient.

    seed: of the batch's dropout, as in `gradients_of`. row: the means since the last row, and more, in a logged step.
    evaluation, shown: the results of an evaluation, after a step that `is_judged`.
    """

    number: int
    batch: Batch
    seed: Sequence[int]
    losses: StepLosses
    gradient_norm: float
    learning_rate: float
    seconds: float = 0.0
    row: dict[str, float] = field(default_factory=dict)
    is_judged: bool = False
    evaluation: dict[str, float] = field(default_factory=dict)
    shown: dict[str, object] = field(default_factory=dict)

    @property
    def is_finite(self) -> bool:
        """True unless the loss or the gradient is infinite or not a number."""
        return math.isfinite(self.losses.total + self.gradient_norm)

    @property
    def tokens_per_second(self) -> float:
        """The real tokens of the batch per second."""
        return int(self.batch.attention_mask.sum()) / self.seconds


class Watcher:
    """Base class of an observer of each step: it writes, draws or shows, and does not change the model."""

    def before_update(self, step: Step) -> None:
        """Called when the gradients are complete, before the parameters change."""

    def after(self, step: Step) -> None:
        """Called after the step and its evaluation."""

    def before_save(self) -> None:
        """Called before the state is saved, to write all that is pending."""


@dataclass
class Averages:
    """Sums over steps, by name: of losses, right predictions and targets."""

    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kinds: tuple[str, ...], step: StepLosses) -> None:
        """Add the losses of a step, with these names of their kinds."""
        for index, kind in enumerate(kinds):
            prefix, count = f"{kind}_" if kind else "", step.counts[index]
            self._add(f"{prefix}loss", step.losses[index] * count, count)
            if step.right is not None:
                self._add(f"{prefix}accuracy", step.right[index], count)

    def means(self) -> dict[str, float]:
        """Return the means over the targets by name; `loss` is the sum of the means of several kinds."""
        means = {name: value / self.counts[name] for name, value in self.sums.items()}
        if not means or "loss" in means:
            return means
        return {"loss": sum(value for name, value in means.items() if name.endswith("_loss")), **means}

    def _add(self, name: str, value: float, count: int) -> None:
        self.sums[name] = self.sums.get(name, 0.0) + value
        self.counts[name] = self.counts.get(name, 0) + count


COUNT = count_from(0)


@dataclass
class Progress:
    """The progress of a run: the epoch, with the seed of its order and the place of the next batch; the results of
    evaluations; the sums since the last line of the log; and the number of steps, which may change when it
    continues."""

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
        """Yield batches without end, epoch after epoch, and keep `place` at the next one. Raises: ValueError for data
        without a batch.
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
        """Return the progress as numbers, strings, lists and dicts."""
        return asdict(self)

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> Progress:
        """The progress that `stored` gave. Raises: TypeError, ValueError, LookupError or ArithmeticError for what is
        missing, unknown, or not of its kind."""
        place, averages = Position(*stored["place"]), Averages(**stored["averages"])
        progress = cls(**{**stored, "place": place, "averages": averages})
        counts = ("epoch", "epoch_seed", "best_step", "evaluations_since_best", "total_steps")
        for name, count in [*((name, getattr(progress, name)) for name in counts), *place._asdict().items()]:
            COUNT.check(name, count)
        for numbers in (progress.best_evaluation, progress.evaluation, averages.means()):
            np.array([*numbers.values(), progress.best or 0.0], np.float64)
        return progress
