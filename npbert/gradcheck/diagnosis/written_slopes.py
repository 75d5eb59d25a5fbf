"""The slope of GELU, Φ(x) + x φ(x), in all the forms in which people write its two terms."""

from __future__ import annotations

import itertools
import math

import numpy as np

from npbert.compute import Array, erf
from npbert.gradcheck.diagnosis.finding import Term
from npbert.gradcheck.diagnosis.written import Forms

_LEGEND = "φ(x) is e^(−x²/2) / √(2π)"
_DIVISORS = {
    " / √(2π)": 1 / math.sqrt(2 * math.pi),
    "": 1.0,
    " / √π": 1 / math.sqrt(math.pi),
    " / (2π)": 1 / (2 * math.pi),
    " / √2": 1 / math.sqrt(2),
    " / π": 1 / math.pi,
    " · √(2π)": math.sqrt(2 * math.pi),
    " / √2 · π": math.pi / math.sqrt(2),
    " · π": math.pi,
    " / (√2 π)": 1 / (math.sqrt(2) * math.pi),
    " · √(2/π)": math.sqrt(2 / math.pi),
}


def terms_of_gelu(x: Array, dy: Array, roads: tuple[str, str]) -> tuple[Term, ...]:
    """Of dx = dy · (Φ(x) + x φ(x))."""
    with np.errstate(all="ignore"):
        terms = _of_the_factor(x), _of_the_inside(x)
    return tuple(
        Term(road, {text: dy * form for text, form in forms.items() if np.isfinite(form).all()}, 1, legend, "dy")
        for road, forms, legend in zip(roads, terms, (_LEGEND, ""), strict=True)
    )


def big_phi(x: Array) -> Array:
    """Φ(x), the distribution function of the standard normal."""
    return np.asarray(0.5 * (1 + erf(x, divisor=math.sqrt(2))))


def small_phi(x: Array) -> Array:
    """φ(x), its density."""
    return np.asarray(np.exp(-x * x / 2) / math.sqrt(2 * math.pi))


def _of_the_factor(x: Array) -> Forms:
    """What stands for Φ(x)."""
    p = big_phi(x)
    return {
        "Φ(x)": p,
        "x Φ(x)": x * p,
        "1": np.ones_like(x),
        "x": x,
        "(1 − Φ(x))": 1 - p,
        "Φ(x) (1 − Φ(x))": p * (1 - p),
        "x Φ(x) (1 − Φ(x))": x * p * (1 - p),
        "Φ(x)²": p * p,
        "(1 + Φ(x))": 1 + p,
        "erf(x/√2)": 2 * p - 1,
        "(1 + erf(x))": 1 + erf(x, divisor=1.0),
        "Φ(−x²)": big_phi(-x * x),
        "x² Φ(x)": x * x * p,
        "Φ(y)": big_phi(x * p),
        "sigmoid(x)": 1 / (1 + np.exp(-x)),
        "sigmoid(1.702 x)": 1 / (1 + np.exp(-1.702 * x)),
    }


def _of_the_inside(x: Array) -> Forms:
    """What stands for x φ(x): a power of x, an exponential, and what that is divided by."""
    p, phi, squared, size = big_phi(x), small_phi(x), x * x, np.abs(x)
    powers = {"x": x, "": np.ones_like(x), "x²": squared, "x³": x * squared}
    exponents = {
        "−x²/2": -squared / 2,
        "−x²": -squared,
        "x²/2": squared / 2,
        "x²": squared,
        "−|x|/2": -size / 2,
        "−x/2": -x / 2,
        "x/2": x / 2,
        "−|x|": -size,
        "−x": -x,
        "−x²/4": -squared / 4,
        "−2x²": -2 * squared,
        "−x³/2": -x * squared / 2,
        "−1/2": np.full_like(x, -0.5),
    }
    exponentials = {f"e^({text})": np.exp(exponent) for text, exponent in exponents.items()}
    exponentials |= {"[no exponential]": np.ones_like(x), "(−x²/2)": -squared / 2}
    forms = {"x φ(x)": x * phi, "φ(x)": phi, "x² φ(x)": squared * phi, "Φ(x) φ(x)": p * phi, "x Φ(x) φ(x)": x * p * phi}
    forms |= {"y φ(x)": x * p * phi, "y φ(y)": x * p * small_phi(x * p), "x φ(y)": x * small_phi(x * p)}
    forms |= {"x φ(x)²": x * phi * phi, "(x − 1) φ(x)": (x - 1) * phi, "x² Φ(x) φ(x)": squared * p * phi}
    for (power, of), (text, exponential), (by, divisor) in itertools.product(
        powers.items(), exponentials.items(), _DIVISORS.items()
    ):
        forms.setdefault(f"{power} {text}{by}".strip(), of * exponential * divisor)
    return forms
