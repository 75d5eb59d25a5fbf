"""Number: a + bε with ε² = 0 and exact parts. Its arithmetic carries a derivative along.

(a + bε)(c + dε) = ac + (ad + bc)ε is the product rule, and f(a + bε) = f(a) + f′(a) b ε the chain rule. So a program
that computes y from x gives y + ẏε from x + ẋε, where ẏ is the derivative of y in the direction ẋ. (Dual numbers:
Clifford 1873; forward differentiation: Wengert 1964.)

a and b belong to a world: a finite field, with an exact equality (`field.py`), or decimals (`digits.py`). The functions
of a Number are in `rules.py`.

A float is rounded, and exact arithmetic would see it: twice the square of the float for √2 is not 4. So a float becomes
the simplest number that rounds to it (`constant`): 0.1 is a tenth, and 1.4142135623730951 is √2.
"""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from npbert.gradcheck.inputs import Function, Outputs

_SHORT = 2**40  # numerator times denominator of a fraction that is not there by chance
_ROUNDING = 1e-15
_LARGEST_ROOT = 100
_SMALL = 1e-6


class World:
    """Where the parts of Numbers come from, and the state of one run. A subclass makes unknowns and tangents, and gives
    the exact number of a float, 1/a and f(a).

    drops: take tiny constant summands, which only guard against a 0, for 0, and note them in `dropped`.
    is_forward: False in backward, where tangents are not needed: functions have none.
    ties: the number of comparisons of different numbers with equal floats.
    slopes: of decimals, in the order of computation.
    """

    modulus: Any
    drops, is_forward, ties = False, True, 0

    def __init__(self) -> None:
        self.dropped = set[float]()
        self.slopes = list[Any]()


def _by_floats(compare: Function) -> Any:
    """Return a comparison by the floats."""

    def compared(number: Number, other: Any) -> Any:
        seen = seen_of(other)
        if seen == number.seen and math.isfinite(seen) and as_number(other).value != number.value:
            Number.world.ties += 1
        return compare(number.seen, seen)

    return compared


def _of_two_numbers(operation: Function) -> Any:
    """Return the operation for any other operand, which becomes a Number; of ±∞ and NaN, that of floats."""
    name = operation.__name__

    def of_any(number: Number, other: Any) -> Any:
        if type(other) is not Number:
            world, is_summand = Number.world, name in ("__add__", "__sub__") and isinstance(other, float | np.floating)
            if is_summand and world.drops and world.is_forward and 0 < abs(other) <= _SMALL:
                world.dropped.add(abs(float(other)))
                return number
            other = as_number(other)
            if isinstance(other, NonFinite):
                return as_number(float(getattr(operator, name)(number.seen, other)))
        return other if other is NotImplemented else operation(number, other)

    return of_any


@dataclass(slots=True)
class Number:
    """value + tangent · ε.

    seen: its float. It only decides comparisons: a maximum, a ReLU or a mask takes the path of the user's numbers, and
    the computation is exact on that side of each comparison.
    error: a bound on the rounding of `seen` and of the user's floats, in units of half an epsilon (running error
    analysis: Wilkinson 1986).
    terms: the terms of its sum, each with its sign, so that e^(a − b) can be e^a / e^b: ((a, 1), (b, −1)).
    """

    value: Any
    tangent: Any
    seen: float
    error: float = 0.0
    terms: Outputs = ()

    world: ClassVar[Any]
    """A Field, or Digits."""

    @_of_two_numbers
    def __add__(self, other: Number) -> Number:
        a, b, modulus = self.seen, other.seen, Number.world.modulus
        value, tangent = (self.value + other.value) % modulus, (self.tangent + other.tangent) % modulus
        return Number(value, tangent, a + b, self.error + other.error + abs(a) + abs(b), ((self, 1), (other, 1)))

    @_of_two_numbers
    def __sub__(self, other: Number) -> Any:
        return self + -other

    @_of_two_numbers
    def __mul__(self, other: Number) -> Number:
        return Number(*product(self, other))

    @_of_two_numbers
    def __truediv__(self, other: Number) -> Any:
        return self * other.reciprocal()

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Any:
        negative = self * -1
        negative.terms = ((self, -1),)
        return negative

    def __pos__(self) -> Number:
        return self

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __rtruediv__(self, other: Any) -> Any:
        return self.reciprocal() * other

    def reciprocal(self) -> Any:
        """Return 1/self, with d(1/a) = −da/a². For 0 it is ∞ or NaN, as in floats."""
        if self.value == 0:
            return math.nan if self.seen else math.inf
        world = Number.world
        inverse = world.inverse(self.value)
        tangent = self.tangent * (inverse * inverse * -1) % world.modulus
        seen = 1 / self.seen if self.seen else math.inf
        return Number(inverse, tangent, seen, self.error * seen * seen + abs(seen))

    def __pow__(self: Any, power: Any) -> Any:
        """Return a power n/d as a product of n roots of degree d, and a power that is a Number as exp(y · log(x)); all
        three are methods from `rules.py`, as tanh and others."""
        if type(power) is Number:
            return (power * self.log()).exp()
        exact = Fraction(power).limit_denominator(_LARGEST_ROOT)
        if not math.isclose(exact, power, rel_tol=1e-15):
            raise TypeError(f"the power {power} has no exact rule")
        base = self if exact.denominator == 1 else self.root(exact.denominator)
        factors = [base if power > 0 else 1 / base] * abs(exact.numerator)
        return math.prod(factors, start=as_number(1))

    def __rpow__(self, base: Any) -> Any:
        return as_number(base) ** self

    __lt__, __le__ = _by_floats(operator.lt), _by_floats(operator.le)
    __gt__, __ge__ = _by_floats(operator.gt), _by_floats(operator.ge)
    __eq__, __ne__ = _by_floats(operator.eq), _by_floats(operator.ne)

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __float__(self) -> float:
        raise TypeError(
            "an exact number is turned into a float here (by float(), astype, or an array that is of float32 or made "
            "elsewhere: np.zeros(x.shape) in this function would take it)"
        )

    __int__ = __float__

    conjugate = __pos__
    real = property(__pos__)
    imag = 0

    def __repr__(self) -> str:
        return f"Number({self.seen:g})"


class NonFinite(float):
    """±∞ or NaN, which have no exact value: a float with the methods that NumPy calls on objects.

    Its arithmetic is that of floats, and a finite result is a constant: e^(−∞) is 0 and tanh(∞) is 1.
    """


def product(x: Any, y: Any, multiply: Function = operator.mul, length: int = 1) -> Outputs:
    """Return the parts of x y, for two Numbers, or for the Components of two matrices whose sums have this length."""
    a, b, modulus = abs(x.seen), abs(y.seen), Number.world.modulus
    tangent = multiply(x.value, y.tangent) + multiply(x.tangent, y.value)
    error = multiply(a * length + x.error, b) + multiply(a, y.error)
    return multiply(x.value, y.value) % modulus, tangent % modulus, multiply(x.seen, y.seen), error


def as_number(x: Any) -> Any:
    """Return a Number for a number, NonFinite for ±∞ and NaN, NotImplemented for anything else. A float becomes its
    exact constant."""
    if type(x) is Number:
        return x
    if not isinstance(x, float | np.floating | int | np.integer | np.bool_):
        return NotImplemented
    seen = float(x)
    if not math.isfinite(seen):
        return NonFinite(seen)
    return Number(Number.world.constant(seen), 0, seen, 0.0 if seen.is_integer() else abs(seen))


def seen_of(x: Any) -> float:
    """Return the float of a number."""
    return x.seen if type(x) is Number else float(x)


@functools.cache
def constant(x: float) -> tuple[int, Fraction, bool, int]:
    """Return (sign, ratio, is_root, halves) for sign · ratio · π^(halves/2), or sign · √ratio · π^(halves/2): the
    first of these that rounds to x, with a short fraction r: r, √r, and both times √π, 1/√π, π or 1/π; otherwise the
    float's own fraction. It also finds 3 · 0.044715, a product that was rounded again."""
    sign = -1 if x < 0 else 1
    for halves in (0, 1, -1, 2, -2):
        u = abs(x) / math.pi ** (halves / 2)
        for power in (1, 2):
            ratio = simplest(Fraction(u) ** power, _ROUNDING * power)
            if ratio is not None:
                return sign, ratio, power == 2, halves
    return sign, Fraction(abs(x)), False, 0


def simplest(x: Fraction, rounding: float) -> Fraction | None:
    """Return the fraction n/d with n · d up to 2⁴⁰ that equals x ≥ 0 within a relative error of `rounding`, or None.
    (There is at most one.)"""
    found = x.limit_denominator(max(1, math.isqrt(_SHORT * x.denominator // x.numerator) if x else 1))
    return found if abs(x - found) <= Fraction(rounding) * x else None
