"""Comparison: the learner's numbers at each seed of a blank, beside the right ones. fact_of: says of a wrong array by
its numbers its shape, its size, or the number that differs most."""

import inspect
import re
from functools import cached_property, partial
from types import ModuleType

import numpy as np

from npbert.gradcheck import GradientError
from npbert.gradcheck.explain.numbers import example, facts
from npbert.gradcheck.explain.trial import Sample, is_number
from npbert.gradcheck.inputs import magnitude
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


_OF_ANY = "shape", "factor", "not finite"
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
    is_gradient = re.fullmatch(r"d\w+", name) is not None
    one = np.asarray(one)
    for kind, text in facts(one, right, name[1:] if is_gradient else name):
        if is_gradient or kind in _OF_ANY:
            return f"{name} {text}"
    return f"{name} {example(one, right)}"
