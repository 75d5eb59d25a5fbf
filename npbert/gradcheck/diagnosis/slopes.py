"""The slope of a layer that works on each number by itself, as a short formula in x and y: dx = dy · (1 − y²)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import ACCURACY, Case, Finding

_MOST_TERMS = 2
_IS_WHOLE = 1e-6
_LARGEST = 4  # a formula whose factors are whole and small is one that somebody may have written


def wrong_slope(case: Case, x: Array, y: Array, dy: Array) -> Iterator[Finding]:
    """The wrong slope as a sum of at most two simple terms, and the right one, if it is one, too."""
    terms = _terms(x, y)
    said = _formula(case.wrong, terms, dy, case.allowed)
    if said is None:
        return
    right = _formula(case.right, terms, dy, ACCURACY * 1e-3 * float(np.abs(case.right).max(initial=0)))
    told = f", where dy · ({right}) is right" if right else ""
    yield Finding("slope", case.name, f"{case.d} is dy · ({said}){told}")


def _terms(x: Array, y: Array) -> dict[str, Array]:
    with np.errstate(all="ignore"):
        terms = {"1": np.ones_like(x), "x": x, "y": y, "x²": x * x, "y²": y * y, "x · y": x * y, "y / x": y / x}
    terms |= {"[x > 0]": (x > 0) * 1.0, "[x < 0]": (x < 0) * 1.0}
    return {name: array for name, array in terms.items() if np.isfinite(array).all()}


def _formula(gradient: Array, terms: dict[str, Array], dy: Array, allowed: float) -> str | None:
    for count in range(1, _MOST_TERMS + 1):
        for names in itertools.combinations(terms, count):
            matrix = np.stack([(dy * terms[name]).ravel() for name in names], axis=1)
            if len(matrix) < count + 3:
                return None
            factors, _, rank, _ = np.linalg.lstsq(matrix, gradient.ravel(), rcond=None)
            whole: Array = np.array([round(float(factor)) for factor in factors])
            is_simple = np.abs(factors - whole).max() < _IS_WHOLE and whole.all() and np.abs(whole).max() <= _LARGEST
            if rank == count and is_simple and np.abs(matrix @ whole - gradient.ravel()).max() <= allowed:
                return _sum(names, [int(factor) for factor in whole])
    return None


def _sum(names: tuple[str, ...], factors: list[int]) -> str:
    text = ""
    for name, factor in zip(names, factors, strict=True):
        size = abs(factor)
        term = str(size) if name == "1" else name if size == 1 else f"{size} {name}"
        sign = "−" if factor < 0 else "+"
        text += f" {sign} {term}" if text else f"{'−' if factor < 0 else ''}{term}"
    return text
