"""Evaluation: how the model of a run is judged along the way. Goal: the number by which one model is better."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from npbert.training.plot import PlottedText


class Goal(NamedTuple):
    """The number of the evaluation that says how good a model is, and whether more of it is better.

    more_is_better: by default less of a loss is better, and more of all else.
    """

    name: str
    more_is_better: bool | None = None

    def is_reached(self, value: float, best: float | None) -> bool:
        """True if `value` is better than the best so far. NaN, as a correlation may be, is worse than any number."""
        if best is None or math.isnan(best):
            return best is None or not math.isnan(value)
        more = not self.name.endswith("loss") if self.more_is_better is None else self.more_is_better
        return value > best if more else value < best


@dataclass
class Evaluation:
    """What a Trainer asks about the model after some of its steps, and after the last.

    evaluate: gives numbers by name for a held-out set, of which `goal` names the one that counts; without it the last
    model is the best. show: what the model says of a few examples, as a row for shown.jsonl, asked after `evaluate`.
    example: a text, whose attention TensorBoard shows where the model has a `bert`. cost: how long all of it takes, in
    steps; the longer, the fewer of them there are. files: those that `evaluate` has read; several processes make sure
    that theirs are the same.
    """

    evaluate: Callable[[], dict[str, float]] | None = None
    goal: Goal | None = None
    show: Callable[[], dict[str, object]] | None = None
    example: PlottedText | None = None
    cost: float = 0.0
    files: Sequence[str | Path] = ()
