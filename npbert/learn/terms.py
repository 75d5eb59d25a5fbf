"""Terms: a formula's own terms, so that one of them can be told to be missing, too large, or of the wrong sign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.factors import cause_of
from npbert.gradcheck.diagnosis.finding import number
from npbert.learn.exercise import Finding
from npbert.learn.roads import Roads

_EXACT = 1e-9  # relative
_IS_WHOLE = 1e-6


@dataclass(frozen=True)
class Terms(Roads):
    """ways: by which of the names in `things` the formula may be cut, each a set of terms whose sum is right.

    look: what to look at where a term is there with another factor, by its name. more: what else is said where a term
    is wrong.
    """

    ways: tuple[tuple[str, ...], ...] = ()
    look: tuple[tuple[str, str], ...] = ()
    more: Mapping[str, str] = field(default_factory=dict)

    def told(self, name: str, given: Array, right: Array, of_roads: dict[str, Array]) -> Finding | None:
        """Which terms are wrong, by the way that names the fewest; else as of Roads."""
        told = [self._counted(given, [of_roads[term] for term in way]) for way in self.ways]
        counted = [dict(zip(way, counts, strict=True)) for way, counts in zip(self.ways, told, strict=True) if counts]
        wrong = [{term: count for term, count in counts.items() if count != 1} for counts in counted]
        wrong = [counts for counts in wrong if counts and len(counts) <= len(self.ways[0]) - 1]
        if not wrong:
            return super().told(name, given, right, {term: of_roads[term] for term in self.ways[0]})
        ((term, count), *others) = min(wrong, key=lambda counts: _is_odd(next(iter(counts.values())))).items()
        says = [f"in {name}, {_told(term, count)}", *(_told(*other) for other in others)]
        look = cause_of(count, {}, {}) or dict(self.look).get(term, "") if _is_odd(count) and not others else ""
        because = " ".join(filter(None, [self.why, self.more.get(term, "")]))
        return Finding("; ".join(says) + (look and f": {look}"), because)

    def _counted(self, given: Array, terms: list[Array]) -> list[float]:
        """How often each term is there; nothing where that does not explain what is given."""
        matrix = np.stack([term.ravel() for term in terms], axis=1)
        counts, _, rank, _ = np.linalg.lstsq(matrix, given.ravel(), rcond=None)
        left_over = np.abs(matrix @ counts - given.ravel()).max(initial=0)
        if rank < len(terms) or not left_over <= _EXACT * np.abs(given).max(initial=0):
            return []
        return [float(round(count)) if abs(count - round(count)) < _IS_WHOLE else float(count) for count in counts]


def _is_odd(count: float) -> bool:
    return count not in (0, 1, -1)


def _told(term: str, count: float) -> str:
    if count == 0:
        return f"{term} is missing"
    if count == -1:
        return f"{term} has the wrong sign"
    size = abs(count)
    sign = ", and has the wrong sign" if count < 0 else ""
    return f"{term} is {number(max(size, 1 / size))} times too {'large' if size > 1 else 'small'}{sign}"
