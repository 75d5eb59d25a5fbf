"""Comparison: the learner's numbers at each seed of a blank, beside the right ones. It is the Oracle for mending."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import PromiseError
from npbert.gradcheck.explain import RAISES, Outlook
from npbert.learn.blank import Blank, Numbers
from npbert.learn.failure import Failure, attempt, file_of

_SMALLEST_SCALE = 1e-2


class Comparison:
    """right: the right numbers at each seed, those of the library.

    At each seed: given, the numbers of `thing` as far as it ran; and wrong, the names of wrong or missing ones. And of
    all seeds: first, the index of the first with a mistake; stopped, the first failure of the learner's code, or of the
    check before the numbers were complete; and broken, the first of the check on complete numbers.
    """

    def __init__(self, blank: Blank, thing: Any) -> None:
        self.blank, self.thing, self.samples = blank, thing, blank.seeds
        self.right = blank.right_numbers
        self.given, self.wrong = list[Numbers](), list[set[str]]()
        self.first: int | None = None
        self.stopped: Failure | None = None
        self.broken: Failure | None = None
        how: Any = {"given": blank.given_functions, "advice": blank.entries("advice")}
        for k, seed in enumerate(blank.seeds):
            numbers: Numbers = {}
            failure = attempt(partial(blank.collect, numbers, thing, seed), file_of(thing), **how)
            missing = self.right[k].keys() - numbers.keys()
            self.given.append(numbers)
            self.wrong.append(self._wrong(numbers, k) | missing)
            if failure is not None and failure.is_of_check and not missing:
                self.broken = self.broken or failure
            else:
                self.stopped = self.stopped or failure
            if self.first is None and (failure is not None or self.wrong[k]):
                self.first = k

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """Run the function at seed k, as in Oracle. After a wrong number, all later ones count as wrong."""
        numbers, wrong, right, has_failed = dict[str, Array](), set[str](), self.right[k], False
        try:
            with self.blank.with_function(self.thing, function) as thing:
                for each in self.blank.run(thing, self.samples[k]):
                    numbers.update(each)
                    wrong = self._wrong(numbers, k)
                    if wrong:
                        break
        except PromiseError as error:
            return Outlook(set(error.subjects), set(right))
        except Exception:  # an error of the edited code, or of its result
            has_failed = True
        alike = {name for name, array in numbers.items() if is_like(array, right.get(name))}
        arrays = {name: (np.asarray(numbers[name], float), np.asarray(right[name], float)) for name in alike}
        missing = right.keys() - numbers.keys()
        is_stopped = has_failed or (missing and wrong - alike)  # as add_grad refuses another shape
        return Outlook(wrong | ({RAISES} if is_stopped else missing), alike - wrong, arrays)

    def _wrong(self, numbers: Numbers, k: int) -> set[str]:
        """Return the names of the numbers that differ beyond rounding."""
        right = self.right[k]
        least = _SMALLEST_SCALE * max(map(_size, right.values()), default=0)  # for an array near 0
        return {name for name in numbers.keys() & right.keys() if not self._is_same(numbers[name], right[name], least)}

    def _is_same(self, one: Any, other: Array, least: float) -> bool:
        if not is_like(one, other):
            return False
        off = np.abs(np.subtract(one, other, dtype=np.float64)).max(initial=0)
        return bool(off <= self.blank.tolerance * max(_size(other), least))

    def all_wrong(self) -> list[str]:
        """The names that are wrong at some seed, in order."""
        return [name for name in self.right[0] if any(name in wrong for wrong in self.wrong)]


def is_like(one: Any, other: Any) -> bool:
    """True for two arrays of real numbers of one shape."""
    return is_number(one) and is_number(other) and np.shape(one) == np.shape(other)


def is_number(value: Any) -> bool:
    """True for an array of real numbers."""
    return np.asarray(value).dtype.kind in "fiub"


def _size(array: Array) -> float:
    """Return its largest finite number."""
    return float(np.abs(array, where=np.isfinite(array), out=np.zeros(np.shape(array))).max(initial=0))
