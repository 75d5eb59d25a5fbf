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


@dataclass
class Progress:
    """The progress of a run: the epoch, with the seed of its order and the place of the next batch; the results of
    evaluations; the mean losses since the last line of the log, or nothing; and the number of steps, which may change
    when it continues."""

    epoch: int
    epoch_seed: int
    place: Position = START
    best_step: int = 0
    best_evaluation: dict[str, float] = field(default_factory=dict)
    evaluations_since_best: int = 0
    losses: list[StepLosses] = field(default_factory=list)
    total_steps: int = 0

    def __post_init__(self) -> None:
        """Make a place of JSON's list."""
        self.place = Position(*self.place)

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
