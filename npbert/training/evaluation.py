"""Evaluation: how the model of a run is judged along the way. Goal: the number by which one model is better."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from npbert.training.plot import PlottedText


class Goal(NamedTuple):
    """The number of the evaluation that says how good a model is, and whether more of it is better.

    more_is_better: by default less of a loss is better, and more of all else.
    """

    name: str
    more_is_better: bool | None = None

    def rank(self, numbers: Mapping[str, float]) -> tuple[bool, float, float]:
        """A rank for the numbers of an evaluation, which is larger for a better model. NaN, as a correlation may be, is
        worse than any number. Of equal ones, as of a metric that does not move yet, that with the smaller loss is best.

        Raises: ValueError when the goal's number is not among them.
        """
        if self.name not in numbers:
            given = ", ".join(numbers)
            raise ValueError(f"metric is {self.name!r}, wanted one of {given}")
        value, loss = numbers[self.name], numbers.get("loss", 0.0)
        more = not self.name.endswith("loss") if self.more_is_better is None else self.more_is_better
        known = not math.isnan(value)
        return known, (value if more else -value) if known else 0.0, -loss


@dataclass
class Evaluation:
    """What a Trainer asks about the model after some of its steps, and after the last.

    evaluate: gives numbers by name for a held-out set, of which `goal` names the one that counts; without it the last
    model is the best. show: what the model says of a few examples, as a row for shown.jsonl, asked after `evaluate`.
    example: a text, whose attention TensorBoard shows where the model has a `bert`. cost: how long all of it takes, in
    steps; the longer, the fewer of them there are. kinds: a name for each loss of the model, ("mlm", "nsp") say. reads:
    by name what the run reads to train and to judge: the path of a file, or a text. A run that goes on, and one of
    several processes, makes sure that it is the same.
    """

    evaluate: Callable[[], dict[str, float]] | None = None
    goal: Goal | None = None
    show: Callable[[], dict[str, object]] | None = None
    example: PlottedText | None = None
    cost: float = 0.0
    kinds: tuple[str, ...] = ("",)
    reads: Mapping[str, Path | str] = field(default_factory=dict)

    def is_better(self, numbers: Mapping[str, float], best: Mapping[str, float]) -> bool:
        """True if a model with these numbers is better than the best so far, or nothing tells.

        Raises: ValueError when the goal's number is not among them.
        """
        if self.evaluate is None or self.goal is None:
            return True
        rank = self.goal.rank(numbers)
        return not best or rank > self.goal.rank(best)
