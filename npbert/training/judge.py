"""Judge: how good the model is along the way, and whether it is the best so far."""

from dataclasses import dataclass

import numpy as np

from npbert.training.evaluation import Goal
from npbert.training.progress import Step, Watcher
from npbert.training.trainer_base import TrainerBase


@dataclass
class Judge(Watcher):
    """Evaluates, notes in the progress what came of it, and saves the model where it is the best so far.

    Several processes judge together, and go by the numbers of process 0.
    """

    trainer: TrainerBase

    def after(self, step: Step) -> None:
        """Raises: ValueError when the evaluation does not give the goal's number."""
        trainer, progress = self.trainer, self.trainer.progress
        evaluate, goal = trainer.evaluation.evaluate, trainer.evaluation.goal
        if not trainer.settings.is_judged(step.number):
            return
        value = None
        if evaluate is not None:
            numbers = {name: float(number) for name, number in evaluate().items()}
            progress.evaluation = trainer.communicator.gather(numbers)[0]
            value = self._value(goal) if goal else None
        if goal and value is not None and not self._is_better(goal, value):
            progress.evaluations_since_best += 1
            return
        progress.best, progress.evaluations_since_best = value, 0
        progress.best_step, progress.best_evaluation = step.number, progress.evaluation
        trainer.saved.save_best()

    def _value(self, goal: Goal) -> float:
        """The number of the evaluation that counts."""
        name, evaluation = goal.name, self.trainer.progress.evaluation
        if name not in evaluation:
            given = ", ".join(evaluation)
            raise ValueError(f"there is no metric {name!r}, by which the best model is chosen: there are {given}")
        return evaluation[name]

    def _is_better(self, goal: Goal, value: float) -> bool:
        """True if the evaluation is the best so far; of equal ones, as of a metric that does not move yet or is still
        NaN, that with the smaller loss."""
        progress = self.trainer.progress
        is_same = progress.best is not None and np.array_equal(value, progress.best, equal_nan=True)
        if is_same and {"loss"} <= progress.evaluation.keys() & progress.best_evaluation.keys():
            return progress.evaluation["loss"] < progress.best_evaluation["loss"]
        return goal.is_reached(value, progress.best)
