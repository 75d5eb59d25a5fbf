"""Judge: how good the model is along the way, whether it is the best so far, and when there is no more hope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.training.bar import held_out_line
from npbert.training.goal import Goal
from npbert.training.parallel import ALONE, Communicator
from npbert.training.progress import Progress
from npbert.training.settings import TrainerSettings, evaluation_interval


@dataclass
class Judge:
    """evaluate, goal: as in Trainer. Several processes judge together, and go by the numbers of process 0."""

    settings: TrainerSettings
    evaluate: Callable[[], dict[str, float]] | None
    goal: Goal | None
    communicator: Communicator = ALONE

    def __post_init__(self) -> None:
        every = self.settings.evaluate_every if self.evaluate else max(0, self.settings.evaluate_every)
        self._interval = evaluation_interval(every, self.settings.steps)

    def is_due(self, step: int) -> bool:
        """Whether the model is judged after this step."""
        return step == self.settings.steps or (self._interval > 0 and step % self._interval == 0)

    def judge(self, step: int, progress: Progress, log: Any, bar: Any) -> bool:
        """Evaluate, and note in `progress` what came of it; whether the model is the best so far.

        Raises: ValueError when the evaluation does not give the goal's number.
        """
        if self.evaluate is not None:
            numbers = {name: float(value) for name, value in self.evaluate().items()}
            progress.evaluation = self.communicator.gather(numbers)[0]
            log.write(step, {f"eval_{name}": value for name, value in progress.evaluation.items()})
            bar.say(held_out_line(step, progress.evaluation))
        value = None
        if self.goal and self.evaluate:
            if self.goal.name not in progress.evaluation:
                raise ValueError(
                    f"there is no metric {self.goal.name!r}, by which the best model is chosen: the evaluation gives "
                    f"{', '.join(progress.evaluation)}"
                )
            value = progress.evaluation[self.goal.name]
        if value is not None and not self._is_better(value, progress):
            progress.evaluations_since_best += 1
            return False
        progress.best, progress.evaluations_since_best = value, 0
        progress.best_step, progress.best_evaluation = step, progress.evaluation
        return True

    def is_finished(self, step: int, progress: Progress) -> bool:
        """Whether the last step is done, or patience is at its end."""
        return step >= self.settings.steps or 0 < self.settings.patience <= progress.evaluations_since_best

    def _is_better(self, value: float, progress: Progress) -> bool:
        """Whether the evaluation is the best so far; of equal ones, as of a metric that does not move yet or is still
        NaN, that with the smaller loss."""
        if self.goal is None:
            return True
        is_same = progress.best is not None and np.array_equal(value, progress.best, equal_nan=True)
        if is_same and {"loss"} <= progress.evaluation.keys() & progress.best_evaluation.keys():
            return progress.evaluation["loss"] < progress.best_evaluation["loss"]
        return self.goal.is_reached(value, progress.best)
