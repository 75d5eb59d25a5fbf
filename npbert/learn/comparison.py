"""Comparison: the learner's numbers at each seed of a blank, beside the right ones. fact_of: says of a wrong array by
its numbers its shape, its size, or the number that differs most."""

import inspect
import re
from functools import cached_property, partial
from types import ModuleType

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import GradientError, explain
from npbert.gradcheck.explain import Sample, is_number
from npbert.gradcheck.inputs import magnitude
from npbert.gradcheck.report import largest_at
from npbert.learn.blank import Blank, Numbers
from npbert.learn.failure import failure_of
from npbert.learn.verdict import Verdict


class Comparison:
    """samples: a seed each, with the right numbers, those of the library. function: the learner's.

    At each seed: given, the numbers of the answer as far as it ran; and wrong, the names of wrong or missing ones. And
    of all seeds: first, the index of the first with a mistake; stopped, the first error of the learner's code, or of
    the check before the numbers were complete; and broken, the first of the check on complete numbers.
    """

    def __init__(self, blank: Blank, module: ModuleType) -> None:
        self.blank, self.file = blank, str(module.__file__)
        self.thing, self.function = getattr(module, blank.name), inspect.unwrap(blank.function_of(module))
        self.samples = list[Sample]()
        self.given, self.wrong = list[Numbers](), list[set[str]]()
        self.first: int | None = None
        self.stopped: BaseException | None = None
        self.broken: GradientError | None = None
        for k, (seed, right) in enumerate(zip(blank.seeds, blank.right_numbers, strict=True)):
            rounding = blank.tolerance * max(map(magnitude, right.values()))  # relative to the largest number
            sample = Sample(partial(blank.run, self.thing, seed), right, dict.fromkeys(right, rounding))
            numbers, error = sample.numbers()
            missing = right.keys() - numbers.keys()
            self.samples.append(sample)
            self.given.append(numbers)
            self.wrong.append(sample.wrong(numbers) | missing)
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

    def all_wrong(self) -> list[str]:
        """The names that are wrong at some seed, in order."""
        return [name for name in self.samples[0].right if any(name in wrong for wrong in self.wrong)]


_OF_ANY = "factor", "not finite"
"""The kinds of facts that are told of arrays that are no gradients, too."""


def fact_of(compared: Comparison, name: str) -> str:
    """Return what is wrong with an array, at its first wrong seed."""
    k = next(k for k, wrong in enumerate(compared.wrong) if name in wrong)
    one, right = compared.given[k].get(name), compared.samples[k].right[name]
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
