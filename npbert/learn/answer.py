"""Answer: the learner's numbers at each sample of a part, with the right ones. It is the Oracle for mending."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import PromiseError
from npbert.gradcheck.explain import FAILED, Outlook
from npbert.learn.attempt import Failure, attempt, file_of
from npbert.learn.exercise import Numbers, Part

_SMALLEST_SCALE = 1e-2


class Given(NamedTuple):
    """The numbers of an answer at one sample, as far as it ran; the names of wrong or missing ones; and its failure, if
    any."""

    numbers: Numbers
    wrong: set[str]
    stopped: Failure | None


class Answer:
    """right: the right numbers at each seed of the part."""

    def __init__(self, part: Part, thing: Any, wanted: Sequence[Numbers] = ()) -> None:
        self.part, self.thing, self.samples = part, thing, part.seeds
        self.right = wanted or [_of_library(part.run, part.right, seed) for seed in part.seeds]

    @cached_property
    def given(self) -> list[Given]:
        """The numbers of `thing` at each sample."""
        return [self._given(k) for k in range(len(self.samples))]

    def _given(self, k: int) -> Given:
        numbers: Numbers = {}

        def run() -> None:
            for each in self.part.run(self.thing, self.samples[k]):
                numbers.update(each)

        stopped = attempt(run, file_of(self.thing), given=self.part.given_functions)
        wrong = self._wrong(numbers, k) | (self.right[k].keys() - numbers.keys())
        return Given(numbers, wrong, stopped)

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """Run the function on sample k, as in Oracle. After a wrong number, all later ones count as wrong."""
        numbers, wrong, right = dict[str, Array](), set[str](), self.right[k]
        try:
            for each in self.part.run(self.part.with_function(self.thing, function), self.samples[k]):
                numbers.update(each)
                wrong = self._wrong(numbers, k)
                if wrong:
                    break
        except PromiseError as error:
            return Outlook(set(error.subjects), set(right))
        except Exception:  # an error of the edited code's result
            return FAILED
        alike = {name: (numbers[name], right[name]) for name in numbers if is_like(numbers[name], right.get(name))}
        if not wrong <= alike.keys():
            return FAILED
        arrays = {name: (np.asarray(one, float), np.asarray(other, float)) for name, (one, other) in alike.items()}
        return Outlook(wrong | (right.keys() - numbers.keys()), alike.keys() - wrong, arrays)

    def _wrong(self, numbers: Numbers, k: int) -> set[str]:
        """Return the names of the numbers that differ beyond rounding."""
        right = self.right[k]
        least = _SMALLEST_SCALE * max(map(_size, right.values()), default=0)  # for an array near 0
        return {name for name in numbers.keys() & right.keys() if not self._is_same(numbers[name], right[name], least)}

    def _is_same(self, one: Any, other: Array, least: float) -> bool:
        if not is_like(one, other):
            return False
        off = np.abs(np.subtract(one, other, dtype=np.float64)).max(initial=0)
        return bool(off <= self.part.tolerance * max(_size(other), least))

    def stopped(self) -> Failure | None:
        """The first failure, without the check's errors on complete numbers."""
        for one, right in zip(self.given, self.right, strict=True):
            if one.stopped and (not one.stopped.is_of_check or right.keys() - one.numbers):
                return one.stopped
        return None

    def broken(self) -> Failure | None:
        """The first failure."""
        return next((each.stopped for each in self.given if each.stopped), None)

    def all_wrong(self) -> list[str]:
        """The names that are wrong at some sample, in order."""
        wrong = set().union(*(each.wrong for each in self.given))
        return [name for name in self.right[0] if name in wrong]

    def empty(self) -> set[str]:
        """The names of what is wrong and 0 everywhere, at each sample."""
        return {name for name in self.all_wrong() if not any(np.any(each.numbers.get(name, 1)) for each in self.given)}

    def comparable(self) -> list[Numbers]:
        """The learner's numbers at each sample, by the wrong names that have the right shape everywhere."""
        both = list(zip(self.given, self.right, strict=True))
        names = [
            name for name in self.all_wrong() if all(is_like(one.numbers.get(name), right[name]) for one, right in both)
        ]
        return [{name: one.numbers[name] for name in names} for one, _ in both] if names else []


def is_like(one: Any, other: Any) -> bool:
    """True for two arrays of real numbers of one shape."""
    return is_number(one) and is_number(other) and np.shape(one) == np.shape(other)


def is_number(value: Any) -> bool:
    """True for an array of real numbers."""
    return value is not None and np.asarray(value).dtype.kind in "fiub"


@cache
def _of_library(run: Callable[..., Any], right: Any, seed: int) -> Numbers:
    return {name: array for numbers in run(right, seed) for name, array in numbers.items()}


def _size(array: Array) -> float:
    """Return its largest finite number."""
    return float(np.abs(array, where=np.isfinite(array), out=np.zeros(np.shape(array))).max(initial=0))
