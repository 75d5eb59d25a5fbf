"""Evaluation: of a run's model during training."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from npbert.io import one_of


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
