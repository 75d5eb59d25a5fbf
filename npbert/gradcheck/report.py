"""What a gradient check found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npbert.layers.parameter import Array

FINITE_DIFFERENCES = "finite differences"
COMPLEX_STEP = "complex step"
TOLERANCES = {FINITE_DIFFERENCES: 1e-7, COMPLEX_STEP: 1e-12}
"""The methods, and the relative error up to which each believes a derivative."""

_SMALLEST_SCALE = 1e-2

Gradients = dict[str, Array]


class GradientError(AssertionError):
    """A backward is not the derivative of its forward, or breaks the contract of a layer."""


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
    """How many derivatives were compared, and the worst comparison of each method.

    The error of an entry is relative to the largest derivative in its array, or to a hundredth of the largest of all
    if that is more: where terms cancel to 0, as in the key bias of attention, the sum is only as exact as its terms.
    """

    count: int
    worst: dict[str, Comparison]
    tolerances: dict[str, float]

    @classmethod
    def compare(cls, analytic: Gradients, numeric: dict[str, Gradients], tolerances: dict[str, float]) -> Report:
        """The report on `analytic` derivatives by name, and the `numeric` ones of each method."""
        if not numeric:
            raise ValueError("there is nothing to compare with: tolerances names no method")
        count = sum(derivatives.size for derivatives in analytic.values())
        worst = {method: _worst(method, analytic, derivatives) for method, derivatives in numeric.items()}
        return cls(count, worst, tolerances)

    @property
    def ok(self) -> bool:
        """Whether every derivative is within the tolerance of every method. (A NaN is not.)"""
        return all(self.worst[method].relative_error <= limit for method, limit in self.tolerances.items())

    def raise_if_wrong(self) -> None:
        """Raise GradientError with the worst entries unless `ok`."""
        if not self.ok:
            raise GradientError(str(self))

    def __str__(self) -> str:
        verdict = "proved" if self.ok else "WRONG"
        return "\n  ".join([f"{verdict}, {self.count} derivatives; the worst:", *map(str, self.worst.values())])


def _worst(method: str, analytic: Gradients, numeric: Gradients) -> Comparison:
    largest = max(np.abs(derivatives).max(initial=0) for derivatives in numeric.values())
    comparisons = []
    for name, derivatives in numeric.items():
        if derivatives.size == 0:
            continue
        scale = max(np.abs(derivatives).max(), _SMALLEST_SCALE * largest)
        difference = np.abs(analytic[name] - derivatives)
        errors = difference / scale if scale > 0 else np.where(difference == 0, 0.0, np.inf)
        index = tuple(int(i) for i in np.unravel_index(np.argmax(errors), errors.shape))  # a NaN counts as the largest
        comparisons.append(
            Comparison(
                method, name, index, float(analytic[name][index]), float(derivatives[index]), float(errors[index])
            )
        )
    return max(comparisons, key=lambda comparison: np.nan_to_num(comparison.relative_error, nan=np.inf))
