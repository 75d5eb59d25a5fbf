"""What a gradient check found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact import NOT_PROVED, REFUTED, Proof
from npbert.gradcheck.explain.finding import Finding, shown

EXACT = "exact arithmetic"
FINITE_DIFFERENCES = "finite differences"
COMPLEX_STEP = "complex step"
TOLERANCES = {FINITE_DIFFERENCES: 1e-7, COMPLEX_STEP: 1e-12}
"""The estimates, and the relative error up to which each believes a derivative."""

ROUNDING = 1e-12
"""The relative error of a backward in floats, beside exact arithmetic, that may be rounding."""

_SMALLEST_SCALE = 1e-2
_MOST_NAMES = 8
_HINTS = {
    FINITE_DIFFERENCES: "The methods disagree: is a kink near, or a number so large that a step of 0.001 is small?",
    COMPLEX_STEP: "The methods disagree: does forward use what complex numbers do not flow through, abs, var or norm?",
}

_VALUES = (
    "Proved, and yet wrong: the formulas are right, but what floats make of them is not. Does a number overflow, do "
    "two that are nearly equal cancel, or is a constant or a function only nearly what it is called?"
)

Gradients = dict[str, Array]


class GradientError(AssertionError):
    """A backward is not the derivative of its forward, or breaks the contract of a layer."""


class PromiseError(GradientError):
    """A layer breaks a promise without which its derivative may still be right."""


class WrongShapeError(GradientError):
    """A gradient has another shape or dtype than what it is the gradient of."""

    def __init__(self, name: str, gradient: Array, wanted: tuple[int, ...]) -> None:
        super().__init__(
            f"backward gives a gradient of shape {np.shape(gradient)} and {gradient.dtype} for {name}, which has shape "
            f"{wanted} and float64"
        )
        self.name, self.gradient = name, gradient


@dataclass(frozen=True)
class Comparison:
    """One derivative by two roads: `analytic` from backward, `numeric` from moving the number at `name[index]`."""

    method: str
    name: str
    index: tuple[int, ...]
    analytic: float
    numeric: float
    relative_error: float

    def __str__(self) -> str:
        place = f"{self.name}[{', '.join(map(str, self.index))}]" if self.index else self.name
        values = f"backward {self.analytic:.15g}, {self.method} {self.numeric:.15g}"
        return f"{place}: {values}, relative error {self.relative_error:.1e}"


@dataclass(frozen=True)
class Report:
    """How many derivatives of each array there are, how many of them are wrong, and the worst comparison of each
    method; true if all are right.

    proof: what exact arithmetic says; None where it was not asked. Where it proves them, the comparisons are along a
    few directions, in which all numbers move at once: they look at the values, as of an overflow.

    The error of an entry is relative to the largest derivative in its array, or to a hundredth of the largest of all
    if that is more: where terms cancel to 0, as in the key bias of attention, the sum is only as exact as its terms.
    """

    sizes: dict[str, int]
    wrong: dict[str, int]
    worst: dict[str, Comparison]
    tolerances: dict[str, float]
    diagnose: Callable[[], list[Finding]] = field(default=list, repr=False, compare=False)
    proof: Proof | None = field(default=None, compare=False)

    @classmethod
    def compare(
        cls,
        analytic: Gradients,
        numeric: dict[str, Gradients],
        tolerances: dict[str, float],
        scales: Gradients | None = None,
    ) -> Report:
        """The report on `analytic` derivatives by name, and the `numeric` ones of each method.

        scales: what errors are relative to, by name, where that is not the largest derivative.
        """
        sizes = {name: derivatives.size for name, derivatives in analytic.items()}
        wrong, worst = dict.fromkeys(sizes, 0), {}
        for method, derivatives in numeric.items():
            errors = _relative_errors(analytic, derivatives, scales)
            for name, of_array in errors.items():
                wrong[name] = max(wrong[name], int((~(of_array <= tolerances[method])).sum()))  # a NaN is wrong
            worst[method] = _worst(method, analytic, derivatives, errors)
        return cls(sizes, wrong, worst, {method: tolerances[method] for method in numeric})

    @property
    def count(self) -> int:
        """How many derivatives there are."""
        return sum(self.sizes.values())

    @property
    def ok(self) -> bool:
        """Whether every derivative is right."""
        return not any(self.wrong.values())

    @cached_property
    def diagnosis(self) -> list[Finding]:
        """What is true of the error, in words, the most telling first; found out when it is first asked for."""
        return [] if self.ok else self.diagnose()

    def __bool__(self) -> bool:
        return self.ok

    def raise_if_wrong(self) -> None:
        """Raise GradientError, with what is true of the error and the worst entries, unless `ok`."""
        if not self.ok:
            raise GradientError(str(self))

    def __str__(self) -> str:
        names = ", ".join(self.sizes) if len(self.sizes) <= _MOST_NAMES else f"{len(self.sizes)} arrays"
        lines = [f"{self._rests_on}{self.count:,} derivatives of {names}; {self._what_follows}:"]
        if self.diagnosis:
            first, *others = map(_in_words, self.diagnosis)
            lines = [f"WRONG: {first}", *others, *lines]
        elif not self.ok:
            lines[0] = f"WRONG, {lines[0]}"
        lines += map(str, self.worst.values())
        if not self.ok:
            wrong = (f"{name} ({count} of {self.sizes[name]})" for name, count in self.wrong.items() if count)
            right = (name for name, count in self.wrong.items() if not count)
            lines += [f"wrong: {', '.join(wrong)}", f"right: {', '.join(right) or 'none'}"]
        return "\n  ".join([*lines, *self._hints()])

    @property
    def _rests_on(self) -> str:
        """The words for what the verdict rests on, which come first where it is right."""
        if self.proof is None:
            return "right by estimates: " if self.ok else ""
        if self.ok:
            return "right, proved: " if self.proof else "right by estimates, not proved: "
        return "" if self.proof.verdict == REFUTED else f"{self.proof.verdict}: "

    @property
    def _what_follows(self) -> str:
        return "two directions besides" if self.ok and self.proof else "the worst"

    def _hints(self) -> list[str]:
        """Why a method may disagree with others that agree, and why nothing is proved."""
        believed = {
            method: comparison.relative_error <= self.tolerances[method] for method, comparison in self.worst.items()
        }
        hints = [_HINTS[method] for method, is_right in believed.items() if method in _HINTS and not is_right]
        hints = hints if any(believed.values()) else []
        if self.proof is not None and self.proof.verdict == NOT_PROVED:
            hints.append(f"Not proved: {self.proof.reason}.")
        if not self.ok and self.proof:
            hints.append(_VALUES)
        return hints


def _in_words(finding: Finding) -> str:
    """With the edit, where there is one; of numbers, only what is true of them."""
    text = shown(finding, edit=True) if finding.line else finding.cause
    return text.replace("\n", "\n  ")


def _relative_errors(analytic: Gradients, numeric: Gradients, scales: Gradients | None) -> Gradients:
    largest = max(np.abs(derivatives).max(initial=0) for derivatives in numeric.values())
    errors = {}
    for name, derivatives in numeric.items():
        scale = max(np.abs(derivatives).max(initial=0), _SMALLEST_SCALE * largest)
        scale = np.full(derivatives.shape, scale) if scales is None else scales[name]
        difference = np.abs(analytic[name] - derivatives)
        with np.errstate(divide="ignore", invalid="ignore"):
            errors[name] = np.where(difference == 0, 0.0, difference / scale)
    return errors


def _worst(method: str, analytic: Gradients, numeric: Gradients, errors: Gradients) -> Comparison:
    worst = {name: np.nan_to_num(of_array, nan=np.inf) for name, of_array in errors.items() if of_array.size}
    name = max(worst, key=lambda name: worst[name].max())
    index = tuple(int(i) for i in np.unravel_index(np.argmax(worst[name]), worst[name].shape))
    return Comparison(
        method,
        name,
        index,
        float(analytic[name][index]),
        float(numeric[name][index]),
        float(errors[name][index]),
    )
