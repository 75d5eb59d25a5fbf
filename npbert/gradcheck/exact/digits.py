"""Digits: the world of real numbers with 50 digits, where functions are what they are.

The proof says that a backward is right for every function with the derivative of exp. If one is not, it may still be
right for exp itself, by a law that the proof does not know, or it is wrong: with 50 digits the two are far apart. And
here each gradient has a size, as in the user's own floats.
"""

from __future__ import annotations

import functools
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from npbert.gradcheck.exact.constants import constant
from npbert.gradcheck.exact.number import Number, known_value

CONTEXT = Context(prec=50)
_NEAR = 1e-3


class Digits:
    """Decimal numbers; use it within `localcontext(CONTEXT)`.

    rng: unknowns are drawn from near what they are seen as, so that no γ is exactly 1; None takes them as they are.
    """

    modulus = Decimal("Infinity")  # nothing is taken away

    def __init__(self, rng: np.random.Generator | None = None) -> None:
        self._rng = rng

    def draw(self, seen: float) -> Decimal:
        """The number as it is seen, or a little above."""
        exact = Decimal(seen)
        if self._rng is None:
            return exact
        return exact + Decimal(_NEAR * self._rng.uniform(0.1, 1.0)) * max(abs(exact), Decimal(1))

    def draw_tangent(self) -> Any:
        """The number ε of an unknown of its own: see `Slope`."""
        return Slope()

    def constant(self, x: float) -> Decimal:
        """What the float stands for."""
        number = constant(x)
        value = _of_fraction(number.ratio)
        return number.sign * (value.sqrt() if number.is_root else value) * _pi().sqrt() ** number.halves_of_pi

    def inverse(self, value: Decimal) -> Decimal:
        """1/value."""
        return 1 / Decimal(value)

    def function(self, name: str, x: Number) -> Decimal:
        """The function, to about 50 digits."""
        value = Decimal(x.value)
        sure = 0 if name == "exp" and x.seen == -np.inf else known_value(name, value)
        if sure is not None:
            return Decimal(sure)
        if name.startswith("root"):
            return (value.ln() / int(name.removeprefix("root "))).exp()
        return _FUNCTIONS[name](value)


class Slope:
    """How fast something moves with each of the unknowns: a sum of weights times other slopes, which is added up at the
    end, by `slopes_of`. So one forward gives the derivatives by all unknowns. (As in reverse
    differentiation: Linnainmaa 1970.)
    """

    __slots__ = ("number", "terms")
    _made = 0

    def __init__(self, *terms: tuple[Any, Slope]) -> None:
        Slope._made += 1
        self.number, self.terms = Slope._made, terms

    def __add__(self, other: Any) -> Slope:
        return Slope((1, self), (1, other)) if isinstance(other, Slope) else self

    def __mul__(self, weight: Any) -> Any:
        return Slope((weight, self)) if weight else 0

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Slope:
        return Slope((-1, self))

    def __mod__(self, modulus: Any) -> Slope:
        return self


def slopes_of(total: Slope) -> dict[Slope, Decimal]:
    """The weight of each unknown's slope in the total: what was made last is undone first."""
    weights: dict[Slope, Any] = {total: Decimal(1)}
    waiting, reached = [total], {total}
    while waiting:
        new = {slope for _, slope in waiting.pop().terms} - reached
        reached |= new
        waiting += new
    for slope in sorted(reached, key=lambda slope: -slope.number):
        for weight, other in slope.terms:
            weights[other] = weights.get(other, 0) + weight * weights[slope]
    return weights


def _of_fraction(ratio: Fraction) -> Decimal:
    return Decimal(ratio.numerator) / Decimal(ratio.denominator)


@functools.cache
def _pi() -> Decimal:
    """π = 16 arctan 1/5 − 4 arctan 1/239 (Machin 1706)."""
    with localcontext(CONTEXT):
        return 16 * _small_arctan(Decimal(1) / 5) - 4 * _small_arctan(Decimal(1) / 239)


def _series(first: Decimal, ratio: Any) -> Decimal:
    """The sum of terms of which each is ratio(n) times the one before, until they no longer count."""
    total, term, n = Decimal(0), first, 0
    while abs(term) > abs(total) * Decimal("1e-52"):
        total += term
        n += 1
        term *= ratio(n)
    return total


def _small_arctan(x: Decimal) -> Decimal:
    return _series(x, lambda n: -x * x * (2 * n - 1) / (2 * n + 1))


def _arctan(x: Decimal) -> Decimal:
    """By arctan x = 2 arctan(x / (1 + √(1 + x²))), until x is small."""
    halvings = 0
    while abs(x) > Decimal("0.1"):
        x, halvings = x / (1 + (1 + x * x).sqrt()), halvings + 1
    return _small_arctan(x) * 2**halvings


def _erf(x: Decimal) -> Decimal:
    """2/√π · x e^(−x²) Σₙ (2x²)ⁿ / (1·3·5…(2n + 1)). (Abramowitz & Stegun 1964, 7.1.6.)"""
    if abs(x) > 11:
        return Decimal(1).copy_sign(x)
    return 2 / _pi().sqrt() * (-x * x).exp() * _series(x, lambda n: 2 * x * x / (2 * n + 1))


def _sin(x: Decimal) -> Decimal:
    x = x.remainder_near(2 * _pi())
    return _series(x, lambda n: -x * x / (2 * n * (2 * n + 1)))


_FUNCTIONS: dict[str, Any] = {
    "exp": Decimal.exp,
    "log": Decimal.ln,
    "sqrt": Decimal.sqrt,
    "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
    "erf": _erf,
    "sin": _sin,
    "cos": lambda x: _sin(x + _pi() / 2),
    "arctan": _arctan,
}
