"""Evaluation: how the model of a run is judged along the way, and whether it is the best so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from npbert.training.plot import PlottedText
from npbert.training.progress import Step, Watcher

if TYPE_CHECKING:
    from npbert.training.trainer import Trainer


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
            raise ValueError(f"there is no metric {self.name!r}, by which the best model is chosen: there are {given}")
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
    by name what the run reads to train and to judge: the path of a file, or a value. A run that goes on, and one of
    several processes, makes sure that it reads the same.
    """

    evaluate: Callable[[], dict[str, float]] | None = None
    goal: Goal | None = None
    show: Callable[[], dict[str, object]] | None = None
    example: PlottedText | None = None
    cost: float = 0.0
    kinds: tuple[str, ...] = ("",)
    reads: Mapping[str, Path | str] = field(default_factory=dict)

    def digests(self) -> dict[str, str]:
        """By name, the SHA-256 of what the run reads."""
        found = {}
        for name, what in self.reads.items():
            data = what.read_bytes() if isinstance(what, Path) else what.encode()
            found[name] = sha256(data).hexdigest()
        return found


@dataclass
class Judge(Watcher):
    """Evaluates, notes in the progress what came of it, and saves the model where it is the best so far.

    Several processes judge together, and go by the numbers of process 0.
    """

    trainer: Trainer

    def after(self, step: Step) -> None:
        """Raises: ValueError when the evaluation does not give the goal's number."""
        trainer, progress = self.trainer, self.trainer.progress
        evaluate, goal = trainer.evaluation.evaluate, trainer.evaluation.goal
        if not trainer.settings.is_judged(step.number):
            return
        is_best, value = True, None
        if evaluate is not None:
            numbers = {name: float(number) for name, number in evaluate().items()}
            progress.evaluation = trainer.communicator.gather(numbers)[0]
            if goal is not None:
                rank, value = goal.rank(progress.evaluation), progress.evaluation[goal.name]
                is_best = not progress.best_evaluation or rank > goal.rank(progress.best_evaluation)
        if not is_best:
            progress.evaluations_since_best += 1
            return
        progress.best, progress.evaluations_since_best = value, 0
        progress.best_step, progress.best_evaluation = step.number, progress.evaluation
        trainer.run.save_best()
