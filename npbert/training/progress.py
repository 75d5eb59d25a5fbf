"""The events of a run: its steps, its watchers, and its saved progress."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from npbert.data import Batch
from npbert.data.task_data import START, Position
from npbert.training.accumulate import StepLosses


class Data(Protocol):
    """Data for a Trainer: PretrainingData, TaskData, or any class with these batches."""

    def batches(self, epoch_seed: int, place: Position = START) -> Iterator[tuple[Position, Batch]]:
        """Yield the batches of an epoch from `place` on, each with its place; the same for the same seed."""


@dataclass
class Step:
    """A step: its number, from 1 on, the batch, the losses, and the norm of the gradient.

    is_logged, is_saved: what follows the step. row: the means since the last row, and more. layers: numbers of each
    layer. evaluation, shown: the results of an evaluation.
    """

    number: int
    batch: Batch
    losses: StepLosses
    gradient_norm: float
    is_logged: bool
    is_saved: bool = False
    seconds: float = math.inf
    row: dict[str, float] = field(default_factory=dict)
    layers: dict[str, object] = field(default_factory=dict)
    evaluation: dict[str, float] = field(default_factory=dict)
    shown: dict[str, object] = field(default_factory=dict)

    @property
    def judged(self) -> dict[str, float]:
        """The results of an evaluation, as a row of metrics.jsonl."""
        return {f"eval_{name}": value for name, value in self.evaluation.items()}

    @property
    def tokens_per_second(self) -> float:
        """The real tokens of the batch per second."""
        return int(self.batch.attention_mask.sum()) / self.seconds


class Watcher:
    """Base class of an observer of each step: it writes, draws or shows, and does not change the model."""

    def before_update(self, step: Step) -> None:
        """Called when the gradients are complete, before the parameters change."""

    def after(self, step: Step) -> None:
        """Called after the step and its evaluation, before the state is saved; and after a step that is not finite."""


def short(number: float) -> float:
    """Return the number with four digits, for rows of many numbers."""
    return float(f"{number:.4g}")


class Averages(dict[str, list[float]]):
    """Sums over steps, and their numbers of targets, by name: of losses, and of right predictions."""

    def add(self, kinds: tuple[str, ...], step: StepLosses) -> None:
        """Add the losses of a step, with these names of their kinds."""
        for index, kind in enumerate(kinds):
            count, begin = step.counts[index], f"{kind}_" if kind else ""
            found = {f"{begin}loss": step.losses[index] * count}
            if step.right is not None:
                found[f"{begin}accuracy"] = step.right[index]
            for name, value in found.items():
                total, targets = self.get(name, (0.0, 0))
                self[name] = [total + value, targets + count]

    def means(self) -> dict[str, float]:
        """Return the means over the targets by name; `loss` is the sum of the means of several kinds."""
        means = {name: value / count for name, (value, count) in self.items()}
        if not means or "loss" in means:
            return means
        return {"loss": sum(value for name, value in means.items() if name.endswith("_loss")), **means}


@dataclass
class Progress:
    """The progress of a run: the epoch, with the seed of its order and the place of the next batch; the results of
    evaluations; the sums since the last line of the log; and the number of steps, which may change when it
    continues."""

    epoch: int
    epoch_seed: int
    place: Position = START
    best_step: int = 0
    best_evaluation: dict[str, float] = field(default_factory=dict)
    evaluations_since_best: int = 0
    averages: Averages = field(default_factory=Averages)
    total_steps: int = 0

    def __post_init__(self) -> None:
        """Make a place and averages of the lists and dicts of JSON."""
        self.place, self.averages = Position(*self.place), Averages(self.averages)

    def batches(self, data: Data, rng: np.random.Generator) -> Iterator[Batch]:
        """Yield batches without end, epoch after epoch, and keep `place` at the next one. Raises: ValueError for data
        without a batch.
        """
        while True:
            for place, batch in data.batches(self.epoch_seed, self.place):
                self.place = place._replace(batch=place.batch + 1)
                yield batch
            if self.place == START:
                raise ValueError("the training data has no batches")
            self.epoch, self.place = self.epoch + 1, START
            self.epoch_seed = int(rng.integers(2**63))
