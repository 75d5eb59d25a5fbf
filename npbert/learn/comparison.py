"""Comparison: the learner's numbers at each seed of a blank, beside the right ones. It is the Oracle for mending."""

import inspect
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import GradientError, PromiseError
from npbert.gradcheck.explain import RAISES, Outlook
from npbert.gradcheck.inputs import magnitude
from npbert.gradcheck.replacing import in_place_of
from npbert.learn.blank import Blank, Numbers
from npbert.learn.failure import failure_of
from npbert.learn.verdict import Verdict


class Comparison:
    """right: the right numbers at each seed, those of the library. function: the learner's.

    At each seed: given, the numbers of the answer as far as it ran; and wrong, the names of wrong or missing ones. And
    of all seeds: first, the index of the first with a mistake; stopped, the first error of the learner's code, or of
    the check before the numbers were complete; and broken, the first of the check on complete numbers.
    """

    def __init__(self, blank: Blank, module: ModuleType) -> None:
        self.blank, self.samples, self.right = blank, blank.seeds, blank.right_numbers
        self.file = str(module.__file__)
        self.thing, self.function = getattr(module, blank.name), inspect.unwrap(blank.function_of(module))
        self.given, self.wrong = list[Numbers](), list[set[str]]()
        self.first: int | None = None
        self.stopped: BaseException | None = None
        self.broken: GradientError | None = None
        for k, right in enumerate(self.right):
            numbers, error = self._run(k)
            missing = right.keys() - numbers.keys()
            self.given.append(numbers)
            self.wrong.append(self._wrong(numbers, k) | missing)
            if self.first is None and (error or self.wrong[k]):
                self.first = k
            if isinstance(error, GradientError) and not missing:
                self.broken = self.broken or error
            else:
                self.stopped = self.stopped or error

    @cached_property
    def failure(self) -> Verdict:
        """The verdict on the first error."""
        given = vars(self.blank.right).keys() - {self.blank.method}
        return failure_of(self.stopped or self.broken, self.file, given=given, advice=self.blank.entries("advice"))

    def _run(self, k: int, *, stops: bool = False) -> tuple[Numbers, BaseException | None]:
        """Return the numbers at seed k, and the error that ends them. stops: after a wrong number"""
        numbers: Numbers = {}
        try:
            with np.errstate(all="ignore"):
                for each in self.blank.run(self.thing, self.samples[k]):
                    numbers.update(each)
                    if stops and self._wrong(numbers, k):
                        break
        except (Exception, SystemExit) as error:
            return numbers, error
        return numbers, None

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """Run the function at seed k, as in Oracle. After a wrong number, all later ones count as wrong."""
        with in_place_of(self.function, function):
            numbers, error = self._run(k, stops=True)
        wrong, right = self._wrong(numbers, k), self.right[k]
        if isinstance(error, PromiseError):
            return Outlook(set(error.subjects), set(right))
        alike = _alike(numbers, right)
        missing = right.keys() - numbers.keys()
        is_stopped = error or (missing and wrong - alike.keys())  # as add_grad refuses another shape
        return Outlook(wrong | ({RAISES} if is_stopped else missing), alike.keys() - wrong, alike)

    def _wrong(self, numbers: Numbers, k: int) -> set[str]:
        """Return the names of the numbers that differ beyond rounding, relative to the largest of all."""
        right = self.right[k]
        rounding = self.blank.tolerance * max(map(magnitude, right.values()))
        off = {name: magnitude(np.subtract(*pair, dtype=float)) for name, pair in _alike(numbers, right).items()}
        return numbers.keys() - {name for name, size in off.items() if size <= rounding}

    def all_wrong(self) -> list[str]:
        """The names that are wrong at some seed, in order."""
        return [name for name in self.right[0] if any(name in wrong for wrong in self.wrong)]


def _alike(numbers: Numbers, right: Numbers) -> dict[str, tuple[Array, Array]]:
    """Return the arrays of real numbers that have the right shape, each with the right one."""
    pairs = ((name, array, right[name]) for name, array in numbers.items())
    return {name: (one, other) for name, one, other in pairs if is_number(one) and np.shape(one) == np.shape(other)}


def is_number(value: Any) -> bool:
    """True for an array of real numbers."""
    return np.asarray(value).dtype.kind in "fiub"
