"""The report of a gradient check."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.display import titled, with_title
from npbert.gradcheck.explain.finding import Finding, describe_all
from npbert.gradcheck.inputs import Outputs, magnitude

EXACT = "exact arithmetic"
FINITE_DIFFERENCES = "finite differences"
COMPLEX_STEP = "complex step"
TOLERANCES = {FINITE_DIFFERENCES: 1e-7, COMPLEX_STEP: 1e-12}
"""The estimates, with the relative tolerance of each."""

PROVED, REFUTED, NOT_PROVED = "proved", "refuted", "not proved"
_MOST_NAMES = 8

Gradients = dict[str, Array]


class GradientError(AssertionError):
    """A backward is not the derivative of its forward, or breaks the contract of a layer."""


class PromiseError(GradientError):
    """A layer breaks a promise without which its derivative may still be right. subjects: the wrong results."""

    def __init__(self, message: str, *subjects: str) -> None:
        super().__init__(message)
        self.subjects = subjects


class WrongShapeError(GradientError):
    """Of these gradients, the one of this name has another shape or dtype than its parameter or input."""

    def __init__(self, name: str, gradients: Mapping[str, Any], wanted: Outputs) -> None:
        self.name, self.gradient, self.gradients = name, np.asarray(gradients[name]), gradients
        given = f"backward returns a gradient of shape {self.gradient.shape} and {self.gradient.dtype} for {name}"
        super().__init__(f"{given}, wanted shape {wanted} and float64")


def largest_at(errors: Array) -> Outputs:
    """Return the index of the largest number; a NaN is larger than all."""
    return tuple(map(int, np.unravel_index(np.argmax(errors), np.shape(errors))))


def placed(name: str, index: Outputs) -> str:
    """Return the place of a number in an array, such as x[0, 1]."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


@dataclass(frozen=True)
class Comparison:
    """The gradient of an array in two ways: `analytic` from backward, `numeric` from forward, both at `index`, with the
    largest difference.

    count: the wrong ones of its `size` numbers. factor: the common factor of all of them, "7/3" or "√(3)", if exact
    arithmetic finds one; otherwise "".
    """

    method: str
    name: str
    size: int
    count: int
    index: Outputs
    analytic: float
    numeric: float
    relative_error: float
    factor: str = ""

    @property
    def place(self) -> str:
        """Its place, such as x[0, 1]."""
        return placed(self.name, self.index)

    def __str__(self) -> str:
        values = f"backward {self.analytic:.15g}, {self.method} {self.numeric:.15g}"
        return f"{self.place}: {values}, relative error {self.relative_error:.1e}"


@dataclass(frozen=True, eq=False)
class Proof:
    """The answer of `prove`: `verdict` is PROVED, REFUTED or NOT_PROVED; true if it is PROVED.

    derivatives: the number of variables.   seconds: the time it took.
    reason: for "not proved", or for a refutation other than wrong gradients.
    wrong: the refuted gradients.
    dropped: the small constants that would have to be 0 for a proof.
    """

    verdict: str
    derivatives: int = 0
    seconds: float = 0.0
    reason: str = ""
    wrong: tuple[Comparison, ...] = ()
    dropped: tuple[float, ...] = ()

    def __bool__(self) -> bool:
        return self.verdict == PROVED

    def __repr__(self) -> str:
        if self:
            return (
                f"proved: {self.derivatives:,} derivatives, in exact integer arithmetic ({1e3 * self.seconds:.0f} ms)"
            )
        if self.wrong:
            return titled("refuted: wrong gradients", *map(_refuted, self.wrong))
        return f"{self.verdict}: {self.reason}"


def _refuted(array: Comparison) -> str:
    many = f"{array.name}: {array.count} of {array.size} wrong" if array.size > 1 else f"{array.name}: wrong"
    if array.factor:
        return f"{many}, {'each of them ' if array.count > 1 else ''}{array.factor} times the right one"
    return f"{many}; {array.place} is {array.analytic:.17g}, and {array.numeric:.17g} is right"


@dataclass(frozen=True, eq=False)
class Report:
    """The result of a gradient check, true if all derivatives are right.

    sizes: the number of derivatives in each array. comparisons: of these arrays, by each method.
    proof: the answer of exact arithmetic, with the verdict "" without one. With a proof, the comparisons only test the
    values, for an overflow, along a few directions in which all numbers move at once.
    unchecked: a sentence, or "". remark: returns another one, for the printed report.

    The error of an entry is relative to the largest derivative in its array, or to a hundredth of the largest of all if
    that is more. Where terms cancel to 0, as in the key bias of attention, the sum is only as exact as its terms.
    """

    sizes: dict[str, int]
    comparisons: Sequence[Comparison]
    proof: Proof = Proof("")
    diagnose: Callable[[], list[Finding]] = list
    unchecked: str = ""
    remark: Callable[[], str] = str

    @cached_property
    def wrong(self) -> dict[str, int]:
        """The number of wrong derivatives in each array, by the method that finds most."""
        return {
            name: max((each.count for each in self.comparisons if each.name == name), default=0) for name in self.sizes
        }

    @cached_property
    def worst(self) -> dict[str, Comparison]:
        """The worst comparison of each method."""
        arrays = sorted(self.comparisons, key=lambda array: np.nan_to_num(array.relative_error, nan=np.inf))
        return {array.method: array for array in arrays}

    @property
    def count(self) -> int:
        """The number of derivatives."""
        return sum(self.sizes.values())

    @property
    def ok(self) -> bool:
        """True if every derivative is right."""
        return not any(self.wrong.values())

    @cached_property
    def diagnosis(self) -> list[Finding]:
        """The explanation of the error, computed at its first use."""
        return [] if self.ok else self.diagnose()

    def __bool__(self) -> bool:
        return self.ok

    def raise_if_wrong(self) -> None:
        """Raise GradientError, with the explanation and the worst entries, unless `ok`."""
        if not self.ok:
            raise GradientError(str(self))

    def __repr__(self) -> str:
        names = ", ".join(self.sizes) if len(self.sizes) <= _MOST_NAMES else f"{len(self.sizes)} arrays"
        is_unproved = self.proof.verdict == NOT_PROVED
        rests_on = ", by estimates" * self.ok + ", not proved" * is_unproved
        count = f"{self.count:,} derivatives of {names}{', proved' if self.proof else rests_on}."
        worst = [f"{count} The worst:", *map(str, self.worst.values())]
        if self.proof:
            worst = [f"{count} Cross-checks: {', '.join(self.worst)}."]
        lines = [*describe_all(self.diagnosis), *worst]
        if not self.ok:
            wrong = (f"{name} ({count} of {self.sizes[name]})" for name, count in self.wrong.items() if count)
            right = (name for name, count in self.wrong.items() if not count)
            lines += [f"wrong: {', '.join(wrong)}", f"right: {', '.join(right) or 'none'}"]
        if is_unproved:
            lines.append(f"Not proved: {self.proof.reason}.")
        notes = " ".join(filter(None, [self.unchecked, self.remark()]))
        text = "\n".join(filter(None, [*lines, notes]))
        return with_title(f"{'PASS' if self.ok else 'FAIL'}: {text}")


def compared(
    method: str,
    analytic: Gradients,
    numeric: Gradients,
    tolerance: float,
    scales: Gradients | None = None,
    doubts: Gradients | None = None,
) -> list[Comparison]:
    """Return the comparison of `analytic` derivatives by name with the `numeric` ones of a method, for each array that
    is not empty.

    scales: the scale of relative errors by name, if not as in a Report. doubts: error bounds of the numeric ones, by
    name; errors count beyond them.
    """
    smallest = float(max(map(magnitude, numeric.values()), default=0)) / 100
    found = []
    for name, derivatives in numeric.items():
        scale = scales[name] if scales else max(float(magnitude(derivatives)), smallest)
        difference, doubt = np.abs(analytic[name] - derivatives), doubts[name] if doubts else 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.where(difference <= doubt, 0.0, np.asarray(difference - doubt, float) / scale)
        if errors.size:
            at = largest_at(errors)
            count = int((~(errors <= tolerance)).sum())  # a NaN is wrong
            said, right = float(analytic[name][at]), float(derivatives[at])
            found.append(Comparison(method, name, errors.size, count, at, said, right, float(errors[at])))
    return found
