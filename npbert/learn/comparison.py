"""Comparison: the learner's numbers at each seed of a blank, beside the right ones. It is the Oracle for mending."""

import inspect
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from npbert.gradcheck import GradientError, PromiseError
from npbert.gradcheck.explain import Outlook, outlook_of, wrong_among
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
        self.accuracy = [
            dict.fromkeys(right, blank.tolerance * max(map(magnitude, right.values()))) for right in self.right
        ]  # of rounding, relative to the largest number
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
        if isinstance(error, PromiseError):
            return Outlook(set(error.subjects), set(self.right[k]))
        return outlook_of(numbers, self.right[k], self.accuracy[k], error)

    def _wrong(self, numbers: Numbers, k: int) -> set[str]:
        """Return the names of the numbers that differ beyond rounding."""
        return wrong_among(numbers, self.right[k], self.accuracy[k])

    def all_wrong(self) -> list[str]:
        """The names that are wrong at some seed, in order."""
        return [name for name in self.right[0] if any(name in wrong for wrong in self.wrong)]
