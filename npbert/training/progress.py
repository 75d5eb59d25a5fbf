"""The events of a run, and its place: the step that it makes, who looks on, and the progress that is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from npbert.data.batch import Batch
from npbert.data.task_data import START, Position
from npbert.training.accumulate import StepLosses


class Data(Protocol):
    """Data for a Trainer: PretrainingData, TaskData, or anything else with these batches."""

    def batches(self, epoch_seed: int, place: Position = START) -> Iterator[tuple[Position, Batch]]:
        """The batches of an epoch from `place` on, each with its place; the same ones for the same seed."""


class Step(NamedTuple):
    """One step: its number, from 1 on, the batch, the losses, the norm of the gradient, and how long it took.

    seed: where the dropout of the batch was drawn from, as in `gradients_of`.
    """

    number: int
    batch: Batch
    seed: Sequence[int]
    losses: StepLosses
    gradient_norm: float
    learning_rate: float
    seconds: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        """The real tokens of the batch in a second."""
        return int(self.batch.attention_mask.sum()) / self.seconds


class Watcher:
    """Something that looks on at each step: it logs, judges or saves, and leaves the model as it is."""

    def before_update(self, step: Step) -> None:
        """The gradients are whole, and the parameters are about to change."""

    def after(self, step: Step) -> None:
        """The step is done."""


@dataclass
class Averages:
    """Sums over steps, by name: of losses and of right targets, and of the targets that they are shared by."""

    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kinds: tuple[str, ...], step: StepLosses) -> None:
        """Add the losses of a step, whose kinds have these names."""
        for index, kind in enumerate(kinds):
            prefix, count = f"{kind}_" if kind else "", step.counts[index]
            self._add(f"{prefix}loss", step.losses[index] * count, count)
            if step.right is not None:
                self._add(f"{prefix}accuracy", step.right[index], count)

    def means(self) -> dict[str, float]:
        """The mean over the targets by name; `loss` is the sum of the means where there are several kinds."""
        means = {name: value / self.counts[name] for name, value in self.sums.items()}
        if not means or "loss" in means:
            return means
        return {"loss": sum(value for name, value in means.items() if name.endswith("_loss")), **means}

    def _add(self, name: str, value: float, count: int) -> None:
        self.sums[name] = self.sums.get(name, 0.0) + value
        self.counts[name] = self.counts.get(name, 0) + count


@dataclass
class Progress:
    """The epoch, with the seed of its order and the place of the next batch in it; what the evaluations gave; the
    sums since the last line of the log; and how many steps the run is to have, which may change when it goes on."""

    epoch: int
    epoch_seed: int
    place: Position = START
    best: float | None = None
    best_step: int = 0
    best_evaluation: dict[str, float] = field(default_factory=dict)
    evaluations_since_best: int = 0
    evaluation: dict[str, float] = field(default_factory=dict)
    averages: Averages = field(default_factory=Averages)
    total_steps: int = 0

    def batches(self, data: Data, rng: np.random.Generator) -> Iterator[Batch]:
        """Batches without end, epoch after epoch; `place` is where the next one is.

        Raises: ValueError for data without a batch.
        """
        while True:
            is_empty = self.place == START
            for place, batch in data.batches(self.epoch_seed, self.place):
                is_empty = False
                self.place = place._replace(batch=place.batch + 1)
                yield batch
            if is_empty:
                raise ValueError("the training data has no batches")
            self.epoch, self.place = self.epoch + 1, START
            self.epoch_seed = int(rng.integers(2**63))

    def stored(self) -> dict[str, object]:
        """All of it as numbers, strings, lists and dicts."""
        return asdict(self)

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> Progress:
        """The progress that `stored` gave, from a file that anybody may have written to.

        Raises: ValueError that names what is missing, unknown or of another form.
        """
        stored = {"total_steps": 0, **stored}  # earlier versions did not say
        for name in sorted(_FORM.keys() ^ stored.keys()):
            raise ValueError(f"{name} is {'missing' if name in _FORM else 'unknown'}")
        for name, form in _FORM.items():
            if not fits(stored[name], form):
                raise ValueError(f"{name} is {stored[name]!r:.80}")
        averages = Averages(**stored["averages"])
        if averages.sums.keys() != averages.counts.keys():
            raise ValueError(f"averages is {stored['averages']!r:.80}")
        return cls(**{**stored, "place": Position(*stored["place"]), "averages": averages})


_FORM: dict[str, object] = {
    **asdict(Progress(0, 0)),
    "evaluation": {"": 0.0},
    "best_evaluation": {"": 0.0},
    "averages": {"sums": {"": 0.0}, "counts": {"": 1}},
}


def fits(value: object, form: object) -> bool:
    """True if a value from a file has this form: a whole number that is no smaller and fits 64 bits; a float; None or a
    float; a sequence or a dict of such. The form of all values of a dict of any names is under ""."""
    if isinstance(form, dict) and isinstance(value, dict):
        forms = dict.fromkeys(value, form[""]) if "" in form else form
        return value.keys() == forms.keys() and all(fits(each, forms[name]) for name, each in value.items())
    if isinstance(form, tuple):
        return isinstance(value, list | tuple) and len(value) == len(form) and all(map(fits, value, form))
    if isinstance(form, int):
        return type(value) is int and form <= value < 2**63
    is_number = type(value) is float or fits(value, -(2**63))
    if form is None:
        return value is None or is_number
    return isinstance(form, float) and is_number
