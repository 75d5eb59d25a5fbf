"""The slope of a layer that works on each number by itself, as a short formula in x and y: dx = dy · (1 − y²)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from npbert.compute import Array, erf
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
        terms = {"1": np.ones_like(x), "x": x, "y": y, "x²": x * x, "y²": y * y, "x · y": x * y}
        terms |= {**_of_activations(x), "y / x": y / x, "y · (1 − y / x)": y * (1 - y / x)}
    terms |= {"[x > 0]": (x > 0) * 1.0, "[x < 0]": (x < 0) * 1.0}
    return {name: array for name, array in terms.items() if np.isfinite(array).all()}


def _of_activations(x: Array) -> dict[str, Array]:
    """What the slopes of the usual activations are made of. Φ is the normal distribution, φ its density."""
    big_phi, phi = 0.5 * (1 + erf(x, divisor=math.sqrt(2))), np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    s, u = 1 / (1 + np.exp(-x)), math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    t, of_u = 1 / (1 + np.exp(-1.702 * x)), math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    return {
        "Φ(x)": big_phi,
        "φ(x)": phi,
        "erf(x/√2)": 2 * big_phi - 1,
        "x φ(x)": x * phi,
        "x² φ(x)": x * x * phi,
        "x φ(x)²": x * phi * phi,
        "Φ(x) φ(x)": big_phi * phi,
        "x Φ(x) (1 − Φ(x))": x * big_phi * (1 - big_phi),
        "the slope of GELU's tanh form": 0.5 * (1 + np.tanh(u)) + 0.5 * x * of_u * (1 - np.tanh(u) ** 2),
        "the slope of x · sigmoid(1.702 x)": t + 1.702 * x * t * (1 - t),
        "sigmoid(x)": s,
        "sigmoid(x) (1 − sigmoid(x))": s * (1 - s),
        "x sigmoid(x) (1 − sigmoid(x))": x * s * (1 - s),
    }


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
