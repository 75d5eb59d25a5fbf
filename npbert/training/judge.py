"""Judge: how good the model is along the way, and whether it is the best so far."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from npbert.training.progress import Step, Watcher


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
class Judge(Watcher):
    """Evaluates, notes in the progress what came of it, and saves the model where it is the best so far.

    Several processes judge together, and go by the numbers of process 0.
    """

    trainer: Any

    def after(self, step: Step) -> None:
        """Raises: ValueError when the evaluation does not give the goal's number."""
        trainer, progress = self.trainer, self.trainer.progress
        if not trainer.settings.is_judged(step.number):
            return
        value = None
        if trainer.evaluate is not None:
            numbers = {name: float(number) for name, number in trainer.evaluate().items()}
            progress.evaluation = trainer.communicator.gather(numbers)[0]
            value = self._value() if trainer.goal else None
        if value is not None and not self._is_better(value):
            progress.evaluations_since_best += 1
            return
        progress.best, progress.evaluations_since_best = value, 0
        progress.best_step, progress.best_evaluation = step.number, progress.evaluation
        trainer.saved.save_best()

    def _value(self) -> float:
        """The number of the evaluation that counts."""
        name, evaluation = self.trainer.goal.name, self.trainer.progress.evaluation
        if name not in evaluation:
            given = ", ".join(evaluation)
            raise ValueError(f"there is no metric {name!r}, by which the best model is chosen: there are {given}")
        return float(evaluation[name])

    def _is_better(self, value: float) -> bool:
        """True if the evaluation is the best so far; of equal ones, as of a metric that does not move yet or is still
        NaN, that with the smaller loss."""
        progress = self.trainer.progress
        is_same = progress.best is not None and np.array_equal(value, progress.best, equal_nan=True)
        if is_same and {"loss"} <= progress.evaluation.keys() & progress.best_evaluation.keys():
            return bool(progress.evaluation["loss"] < progress.best_evaluation["loss"])
        return bool(self.trainer.goal.is_reached(value, progress.best))
