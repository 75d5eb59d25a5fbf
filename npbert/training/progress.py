"""The events of a run: its steps and its evaluations; and its saved progress."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from npbert.data import Batch
from npbert.data.training_data import START, Position
from npbert.io import one_of
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


@dataclass
class Evaluation:
    """The evaluation of a Trainer's model, after some of its steps and after the last.

    evaluate: returns the metrics on a held-out set by name, or nothing.
    goal: the metric that chooses the best model; of a loss, less is better, of all others more; "": the last model is
    the best.
    show: called after `evaluate`; returns predictions for a few examples, as a row for shown.jsonl.
    cost: its time, in forward passes of a batch; a longer evaluation runs less often.
    kinds: a name for each loss of the model, such as ("mlm", "nsp").
    inputs: the inputs of the run by name, a path or a text. A resumed run, and each of several processes, must have the
    same.
    """

    evaluate: Callable[[], dict[str, float]] = dict
    goal: str = ""
    show: Callable[[], dict[str, object]] = dict
    cost: float = 0.0
    kinds: tuple[str, ...] = ("",)
    inputs: Mapping[str, Path | str] = field(default_factory=dict)

    def is_better(self, numbers: Mapping[str, float], best: Mapping[str, float]) -> bool:
        """True if a model with these numbers is better than the best so far, or there are no numbers, or no goal.

        Raises: InputError if the goal's metric is missing.
        """
        if not (numbers and self.goal):
            return True
        rank = self._rank(numbers)  # also of the first evaluation, as a goal without a number is an error
        return not best or rank > self._rank(best)

    def _rank(self, numbers: Mapping[str, float]) -> tuple[float, float]:
        """Return a rank for the numbers of an evaluation, larger for a better model.

        NaN, as a correlation may be, is worse than any number. Of equal ones, the one with the smaller loss is best.
        """
        one_of(numbers).check("metric", self.goal)
        value = -numbers[self.goal] if self.goal.endswith("loss") else numbers[self.goal]
        return -math.inf if math.isnan(value) else value, -numbers.get("loss", 0.0)


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
