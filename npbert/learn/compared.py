"""ComparedPart: the numbers of an answer beside those of the library, and how near they have to be."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain import MANNERS
from npbert.learn.exercise import Section

Numbers = dict[str, Array]
SEEDS = tuple(range(2 * len(MANNERS)))
"""Each manner, with two settings of sizes."""
_SMALLEST_SCALE = 1e-2


@dataclass(frozen=True, kw_only=True)
class ComparedPart(Section):
    """numbers(thing, seed) -> what `thing` computes, call by call, by names that a learner understands.

    plain: a right one in plain steps, as source. tolerance: relative to the largest number of an array.
    """

    numbers: Callable[[Any, int], Iterator[Numbers]]
    plain: str = ""
    tolerance: float = 1e-9
    seeds: tuple[int, ...] = SEEDS

    def wrong_names(self, given: Any, right: Mapping[str, Array]) -> list[str]:
        """The arrays that are not what they should be."""
        least = self.least(right)
        return [name for name in right if not self.is_same(given.get(name), right[name], least)]

    def least(self, right: Mapping[str, Array]) -> float:
        """A number beside which errors are small, where an array is nearly 0 and others are not."""
        return _SMALLEST_SCALE * max(map(_size, right.values()), default=0)

    def is_same(self, one: Array | None, other: Array, least: float) -> bool:
        """True if they are equal, but for rounding."""
        if one is None or np.shape(one) != np.shape(other) or np.asarray(one).dtype.kind not in "fiub":
            return False
        off = np.abs(np.subtract(one, other, dtype=np.float64)).max(initial=0)
        return bool(off <= self.tolerance * max(_size(other), least))


def _size(array: Array) -> float:
    """The largest number of it that is finite."""
    return float(np.abs(array, where=np.isfinite(array), out=np.zeros(np.shape(array))).max(initial=0))
