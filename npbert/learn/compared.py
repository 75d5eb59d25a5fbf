"""Beside: what an answer gives at each sample, beside what the library gives there."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.learn.attempt import Failure, attempt, file_of
from npbert.learn.exercise import Numbers, Part

_SMALLEST_SCALE = 1e-2


class Given(NamedTuple):
    """The numbers of an answer at one sample, as far as it came; and what stopped it, if anything did."""

    numbers: Numbers
    stopped: Failure | None = None


class Beside:
    """given, right: what `thing` and the library give, at each seed of the part."""

    def __init__(self, part: Part, thing: Any) -> None:
        self.part, self.thing = part, thing
        self.right = [_of_library(part.run, part.right, seed) for seed in part.seeds]
        self.given = [self.again(seed) for seed in part.seeds]

    def again(self, seed: int) -> Given:
        """What `thing` gives, computed anew."""
        numbers: Numbers = {}

        def run() -> None:
            for each in self.part.run(self.thing, seed):
                numbers.update(each)

        not_theirs = frozenset(vars(self.part.right)) - {self.part.method} if self.part.method else frozenset[str]()
        stopped = attempt(run, file_of(self.thing), given=not_theirs)
        return Given(numbers, stopped if isinstance(stopped, Failure) else None)

    def with_function(self, function: Callable[..., Any]) -> Any:
        """`thing` with another function in the place of the learner's."""
        return self.part.with_function(self.thing, function)

    def wrong_at(self, k: int) -> set[str]:
        """The names of what is not as it should be."""
        return self.wrong(self.given[k], self.right[k])

    def wrong(self, given: Given, right: Mapping[str, Array]) -> set[str]:
        """The names of what is not the same, but for rounding, or is not there."""
        least = _SMALLEST_SCALE * max(map(_size, right.values()), default=0)  # where an array is nearly 0
        return {name for name, wanted in right.items() if not self._is_same(given.numbers.get(name), wanted, least)}

    def _is_same(self, one: Any, other: Array, least: float) -> bool:
        if not is_number(one) or np.shape(one) != np.shape(other):
            return False
        off = np.abs(np.subtract(one, other, dtype=np.float64)).max(initial=0)
        return bool(off <= self.part.tolerance * max(_size(other), least))

    def first_wrong(self) -> int | None:
        """The first sample at which it stops, or is not right."""
        return next((k for k, one in enumerate(self.given) if one.stopped or self.wrong_at(k)), None)

    def stopped(self) -> Failure | None:
        """The first failure but for those of the check on numbers that are all there."""
        for one, right in zip(self.given, self.right, strict=True):
            if one.stopped and (not one.stopped.is_of_check or right.keys() - one.numbers):
                return one.stopped
        return None

    def all_wrong(self) -> list[str]:
        """The names of what is not right at some sample, in the order in which they come."""
        wrong = set().union(*map(self.wrong_at, range(len(self.given))))
        return [name for name in self.right[0] if name in wrong]

    def comparable(self) -> set[str]:
        """Those of them that are everywhere arrays of the right shape."""
        return {name for name in self.all_wrong() if all(map(partial(_fits, name), self.given, self.right))}


def _fits(name: str, given: Given, right: Numbers) -> bool:
    one = given.numbers.get(name)
    return one is not None and is_number(one) and np.shape(one) == np.shape(right[name])


def is_number(value: Any) -> bool:
    """True for an array of real numbers."""
    return value is not None and np.asarray(value).dtype.kind in "fiub"


@cache
def _of_library(run: Callable[..., Any], right: Any, seed: int) -> Numbers:
    return {name: array for numbers in run(right, seed) for name, array in numbers.items()}


def _size(array: Array) -> float:
    """The largest number of it that is finite."""
    return float(np.abs(array, where=np.isfinite(array), out=np.zeros(np.shape(array))).max(initial=0))
