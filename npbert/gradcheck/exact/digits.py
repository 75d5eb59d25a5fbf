"""Digits: the world of real numbers with 50 digits, with the real functions. witnesses: the gradients wrong in it.

The proof shows that a backward is right for every function with the derivative of exp. One that fails there may still
be right for exp itself, by a law that the proof does not know. 50 digits tell this apart from a mistake, and show the
size of each gradient.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.arrays import of_each
from npbert.gradcheck.exact.number import Number, World, constant, simplest
from npbert.gradcheck.exact.rules import HALF_EPSILON, Rule
from npbert.gradcheck.exact.run import ExactRun, run_on_numbers
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import Function, mapped
from npbert.gradcheck.report import EXACT, Comparison, Gradients, compared

DIGITS = 50
_MORE_DIGITS = (DIGITS, 100, 200, 400, 800)
_SPARE = 8  # digits lost by rounding


class Digits(World):
    """Decimal numbers in the precision of the context."""

    modulus = Decimal("Infinity")  # no modulus

    def unknown(self, seen: float) -> Number:
        """Return the float as a Number."""
        return Number(Decimal(seen), Slope(), seen)

    def constant(self, x: float) -> Decimal:
        """Return the exact number of a float."""
        sign, ratio, is_root, halves = constant(x)
        value = Decimal(ratio.numerator) / ratio.denominator
        root = sign * (value.sqrt() if is_root else value)
        return root * _pi().sqrt() ** halves if halves else root

    def inverse(self, value: Decimal) -> Decimal:
        """1/value."""
        return 1 / value

    def function(self, rule: Rule, x: Number) -> Decimal:
        """Return the function's value, to nearly all digits of the context."""
        value = x.value
        if rule.degree > 2:
            return (abs(value).ln() / rule.degree).exp().copy_sign(value)
        return _FUNCTIONS[rule.name](value)


class Slope:
    """The derivatives of a number by all unknowns: a weighted sum of other slopes, evaluated at the end. So one forward
    gives all of them. (As in reverse mode: Linnainmaa 1970.)

    weight: the derivative of the end by this slope.
    """

    __slots__ = ("terms", "weight")

    def __init__(self, *terms: tuple[Any, Slope]) -> None:
        self.terms, self.weight = terms, Decimal(0)
        Number.world.slopes.append(self)

    def __add__(self, other: Any) -> Slope:
        return Slope((1, self), (1, other)) if isinstance(other, Slope) else self

    def __mul__(self, weight: Any) -> Any:
        return Slope((weight, self)) if weight else 0

    __radd__, __rmul__ = __add__, __mul__

    def __mod__(self, modulus: Any) -> Slope:
        return self


def _series(first: Decimal, ratio: Function) -> Decimal:
    """Return the sum of terms, each ratio(n) times the previous one, until they change no digit."""
    total, term, n = Decimal(0), first, 0
    while total + term != total:
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


_FUNCTIONS: dict[str, Function] = {
    "exp": Decimal.exp,
    "log": Decimal.ln,
    "root 2": Decimal.sqrt,
    "erf": _erf,
    "sin": _sin,
    "cos": lambda x: _sin(x + _pi() / 2),
    "arctan": _arctan,
    "arcsin": lambda x: _arctan(x / (1 - x * x).sqrt()),
}


def decimals(function: ScalarFunction, *, digits: int = DIGITS, backward: bool = True) -> tuple[ExactRun, Gradients]:
    """Run the layer in decimals. Returns the run, and the gradients of forward by name. backward: False runs only
    forward."""
    with localcontext(Context(prec=digits)):
        world = Digits()
        run = run_on_numbers(world, function, backward=backward)
        end = Slope() + run.growth  # which may be 0
        end.weight += 1
        for slope in reversed(world.slopes):
            for weight, part in slope.terms:
                part.weight += weight * slope.weight
        return run, mapped(partial(of_each, attrgetter("weight")), run.tangents)


def witnesses(function: ScalarFunction) -> list[Comparison]:
    """Return the arrays with a wrong gradient: off by more than rounded constants, or too few digits, explain, and by
    as much with twice the digits."""
    before: list[Comparison] = []
    for digits in _MORE_DIGITS:
        try:
            run, right = decimals(function, digits=digits)
        except (ArithmeticError, TypeError):  # for example √ of a negative number
            return []
        said = {name: each.value for name, each in run.gradients.items()}
        smallest = Decimal(10) ** (_SPARE - digits)
        with localcontext(Context(prec=digits, traps=[])):
            bounds = {
                name: np.maximum(of_each(Decimal, HALF_EPSILON * each.error), smallest * np.abs(right[name]))
                for name, each in run.gradients.items()
            }
            wrong = [array for array in compared(EXACT, said, right, 0, doubts=bounds) if array.count]
            if wrong == before:
                return [replace(array, factor=_factor(said[array.name], right[array.name])) for array in wrong]
        before = wrong
    return []


def _factor(said: Array, right: Array) -> str:
    """Return the common factor of `said` to `right`, if it is a short number, or the root of one."""
    ratios = np.ravel(said / right)
    first, sign = ratios[0], "−" if ratios[0] < 0 else ""
    if not np.abs(ratios - first).sum() <= abs(first) * Decimal("1e-30"):  # as it is not with ∞ or NaN
        return ""
    number, square = (simplest(Fraction(each), 1e-28) for each in (abs(first), first * first))
    if number is not None:
        return f"{sign}{number}"
    return f"{first:.17g}" if square is None else f"{sign}√({square})"
