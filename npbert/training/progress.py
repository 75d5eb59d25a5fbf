"""Progress: how far a run is, besides its arrays, and its way into the state on disk and out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from npbert.data.place import START, Place
from npbert.training.averages import Averages


@dataclass
class Progress:
    """The epoch, with the seed of its order and the place of the next batch in it; what the evaluations gave; and the
    sums since the last line of the log."""

    epoch: int
    epoch_seed: int
    place: Place = START
    best: float | None = None
    best_step: int = 0
    best_evaluation: dict[str, float] = field(default_factory=dict)
    evaluations_since_best: int = 0
    evaluation: dict[str, float] = field(default_factory=dict)
    averages: Averages = field(default_factory=Averages)

    def stored(self) -> dict[str, Any]:
        """All of it as numbers, strings, lists and dicts."""
        return asdict(self)

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> Progress:
        """What `stored` gave, from a file that anybody may have written to.

        Raises: ValueError that names what is missing, unknown or of another type.
        """
        names = {entry.name for entry in fields(cls)}
        for name in sorted(names ^ stored.keys()):
            raise ValueError(f"{name} is {'missing' if name in names else 'unknown'}")
        for name, is_right in _RIGHT.items():
            if not is_right(stored[name]):
                raise ValueError(f"{name} is {stored[name]!r}")
        place, averages = Place(*stored["place"]), Averages(**stored["averages"])
        return cls(**{**stored, "place": place, "averages": averages})


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether it is a dict, all of whose values are right."""
    return lambda value: isinstance(value, dict) and all(map(is_right, value.values()))


def _is_place(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == len(START) and all(map(_is_count, value))


def _are_averages(value: Any) -> bool:
    if not (isinstance(value, dict) and value.keys() == {entry.name for entry in fields(Averages)}):
        return False
    sums, counts = value["sums"], value["counts"]
    return _are(_is_number)(sums) and _are(_is_count)(counts) and sums.keys() == counts.keys()


_RIGHT: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("epoch", "epoch_seed", "best_step", "evaluations_since_best"), _is_count),
    **dict.fromkeys(("best_evaluation", "evaluation"), _are(_is_number)),
    "place": _is_place,
    "best": lambda value: value is None or _is_number(value),
    "averages": _are_averages,
}
