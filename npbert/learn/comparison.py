"""Comparison: the learner's numbers at each seed of a blank, beside the right ones. It is the Oracle for mending.
fact_of: says of a wrong array by its numbers its shape, its size, or the number that differs most."""

import inspect
import re
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import GradientError, PromiseError, explain
from npbert.gradcheck.explain import Outlook, is_number, outlook_of, wrong_among
from npbert.gradcheck.inputs import magnitude
from npbert.gradcheck.replacing import in_place_of
from npbert.gradcheck.report import largest_at
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


_OF_ANY = "factor", "not finite"
"""The kinds of facts that are told of arrays that are no gradients, too."""


def fact_of(compared: Comparison, name: str) -> str:
    """Return what is wrong with an array, at its first wrong seed."""
    k = next(k for k, wrong in enumerate(compared.wrong) if name in wrong)
    one, right = compared.given[k].get(name), compared.right[k][name]
    if one is None:
        return f"{name} is missing"
    if not is_number(one):
        real = ". Of complex numbers, .real and .imag are real" * bool(np.iscomplexobj(one))
        return f"{name} is an array of {np.asarray(one).dtype}, wanted one of real numbers{real}"
    is_gradient, has_shape = re.fullmatch(r"d\w+", name) is not None, np.shape(one) == right.shape
    missing = _missing_rows(one, right) if np.ndim(one) and np.ndim(one) == right.ndim else ""
    if missing or not (is_gradient or has_shape):
        return f"{name} has shape {np.shape(one)}, wanted {right.shape}{missing}"
    for finding in explain(one, right, name=name[1:] if is_gradient else name):
        if is_gradient or finding.kind in _OF_ANY:
            return name + finding.cause.removeprefix(finding.subject)
    one = np.asarray(one)
    off = np.abs(np.subtract(one, right, dtype=float))
    place, number = largest_at(off), np.count_nonzero(off > 1e-6 * magnitude(right))
    where = f" at {list(place)}" if place else ""
    count = f"; {number} of its {off.size} numbers are wrong" if number and place else ""
    digits = 6 if f"{one[place]:.6g}" != f"{right[place]:.6g}" else 12
    return f"{name} is wrong: {one[place]:.{digits}g}{where}, wanted {right[place]:.{digits}g}{count}"


def _missing_rows(one: Array, right: Array) -> str:
    """Return the missing rows of the right array, if all others are right; otherwise ""."""
    if one.shape[1:] != right.shape[1:] or len(one) >= len(right):
        return ""
    rows = [number for number, row in enumerate(right) if not any(np.allclose(row, each) for each in one)]
    if len(one) + len(rows) != len(right):
        return ""
    numbers, zero = ", ".join(map(str, rows)), "" if right[rows].any() else ", which are 0"
    return (
        f": row {numbers} of {len(right)} (counted from 0) {'is' if len(rows) == 1 else 'are'} missing{zero}. Start "
        "with np.zeros of the whole shape, and put your rows in their places"
    )
