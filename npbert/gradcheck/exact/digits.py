"""Digits: the world of real numbers with 50 digits, with the real functions.

The proof shows that a backward is right for every function with the derivative of exp. One that fails there may still
be right for exp itself, by a law that the proof does not know. 50 digits tell this apart from a mistake, and show the
size of each gradient.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal, getcontext
from typing import Any

from npbert.gradcheck.exact.constants import constant
from npbert.gradcheck.exact.number import Number, World
from npbert.gradcheck.exact.rules import Rule

_NEAR = 1e-3


class Digits(World):
    """Decimal numbers in the precision of the context.

    rng: draws unknowns near their floats, so that no γ is exactly 1; None: takes the floats themselves.
    """

    modulus = Decimal("Infinity")  # no modulus

    def unknown(self, seen: float) -> Number:
        """Return a Number for the float, or a little above."""
        value = Decimal(seen)
        if self.rng:
            value += Decimal(_NEAR * self.rng.uniform(0.1, 1.0)) * (abs(value) or 1)
        return Number(value, Slope(), seen)

    def constant(self, x: float) -> Decimal:
        """Return the exact number of a float."""
        number = constant(x)
        ratio = Decimal(number.ratio.numerator) / number.ratio.denominator
        value = number.sign * (ratio.sqrt() if number.is_root else ratio)
        return value * _pi().sqrt() ** number.halves_of_pi if number.halves_of_pi else value

    def inverse(self, value: Decimal) -> Decimal:
        """1/value."""
        return 1 / value

    def function(self, rule: Rule, x: Number) -> Decimal:
        """Return the function's value, to nearly all digits of the context."""
        value: Decimal = x.value
        if rule.degree > 2:
            return (abs(value).ln() / rule.degree).exp().copy_sign(value)
        return _FUNCTIONS[rule.name](value)


class Slope:
    """The derivatives of a number by all unknowns: a weighted sum of other slopes, evaluated at the end. So one forward
    gives all of them. (As in reverse mode: Linnainmaa 1970.)
    """

    __slots__ = ("terms",)

    def __init__(self, *terms: tuple[Any, Slope]) -> None:
        self.terms = terms
        Number.world.slopes.append(self)

    def __add__(self, other: Any) -> Slope:
        return Slope((1, self), (1, other)) if isinstance(other, Slope) else self

    def __mul__(self, weight: Any) -> Any:
        return Slope((weight, self)) if weight else 0

    __radd__, __rmul__ = __add__, __mul__

    def __mod__(self, modulus: Any) -> Slope:
        return self


def weights_in(total: Any, slopes: list[Slope]) -> dict[Slope, Decimal]:
    """Return the weight of each slope in the total. slopes: all of a run, in the order of computation."""
    weights = defaultdict[Slope, Decimal](Decimal)
    weights[total] += 1
    for slope in reversed(slopes):
        for weight, other in slope.terms:
            weights[other] += weight * weights[slope]
    return weights


def _series(first: Decimal, ratio: Callable[[int], Decimal]) -> Decimal:
    """Return the sum of terms, each ratio(n) times the previous one, until they are negligible."""
    total, term, n = Decimal(0), first, 0
    smallest = Decimal(10) ** -(getcontext().prec + 2)
    while abs(term) > abs(total) * smallest:
        total += term
        n += 1
        term *= ratio(n)
    return total


def _arctan(x: Decimal) -> Decimal:
    """Return arctan x, by arctan x = 2 arctan(x / (1 + √(1 + x²))) until x is small."""
    if abs(x) > Decimal("0.1"):
        return 2 * _arctan(x / (1 + (1 + x * x).sqrt()))
    return _series(x, lambda n: -x * x * (2 * n - 1) / (2 * n + 1))


def _pi() -> Decimal:
    """π = 4 arctan 1."""
    return 4 * _arctan(Decimal(1))


def _erf(x: Decimal) -> Decimal:
    """2/√π · x e^(−x²) Σₙ (2x²)ⁿ / (1·3·5…(2n + 1)). (Abramowitz & Stegun 1964, 7.1.6.)"""
    density = (-x * x).exp()
    if 1 - density == 1:  # and so is erf |x|, in all digits
        return Decimal(1).copy_sign(x)
    series = _series(x, lambda n: 2 * x * x / (2 * n + 1))
    return 2 / _pi().sqrt() * density * series


def _sin(x: Decimal) -> Decimal:
    """x − x³/3! + x⁵/5! − …"""
    x = x.remainder_near(2 * _pi())
    return _series(x, lambda n: -x * x / (2 * n * (2 * n + 1)))


_FUNCTIONS: dict[str, Callable[[Decimal], Decimal]] = {
    "exp": Decimal.exp,
    "log": Decimal.ln,
    "sqrt": Decimal.sqrt,
    "erf": _erf,
    "sin": _sin,
    "cos": lambda x: _sin(x + _pi() / 2),
    "arctan": _arctan,
    "arcsin": lambda x: _arctan(x / (1 - x * x).sqrt()),
}
