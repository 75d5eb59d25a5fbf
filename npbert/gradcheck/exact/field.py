"""Field: the world in which the proof is made. Numbers are integers modulo a prime of 118 bits, and equal is equal.

In a field one adds, multiplies and divides as with real numbers, and nothing is ever rounded. An identity between
formulas that holds for real numbers holds here, too, and one that does not hold fails at nearly every random point. All
that the real line has and a field lacks are functions such as exp. So e^a is a number drawn at random, one for each a,
of which only the derivative is known; a backward that is right for every function with these derivatives is right for
exp.
"""

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from npbert.gradcheck.exact.constants import constant
from npbert.gradcheck.exact.number import Rule, World

P = 4 * 708311844473 * math.prod(q for q in range(2, 62) if all(q % r for r in range(2, q))) - 1
"""A prime of 118 bits. As P + 1 is a multiple of 4 and of the primes below 62, whole numbers up to 66 have roots."""

_ROOT_OF_PI = pow(3, 10**9, P)  # nothing is known of π but that it is not a root of an equation, so any number will do


class Field(World):
    """Integers modulo P. rng: where unknowns, tangents and the values of functions are drawn from."""

    modulus = P

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._drawn: list[int] = []
        self._values: dict[tuple[str, int], int] = {}
        self._logs: dict[int, int] = {}  # by log b: b
        self._powers: dict[int, int] = {}  # by a, of which a root s of degree d was taken: s^d, which is a from then on

    def draw(self, seen: float) -> int:
        """Any element of the field."""
        if not self._drawn:
            self._drawn = (self._rng.integers(0, 2**64, (4096, 2), np.uint64).astype(object) @ (1, 2**64) % P).tolist()
        return self._drawn.pop()

    def constant(self, x: float) -> int:
        """The element that stands for what a float stands for."""
        return _in_field(x)

    def inverse(self, value: int) -> int:
        """1/value. Where √value was taken, which is any number s here, that is s⁻². Raises: ZeroDivisionError."""
        divisor = self._powers.get(value, value)
        if divisor == 0:
            raise ZeroDivisionError("division by 0")
        return pow(divisor, -1, P)

    def function(self, rule: Rule, value: int) -> int:
        """A random number for each argument, but for laws that hold: odd and even functions, e^(−a) = 1/e^a,
        log e^a = a, e^(log a) = a, e^(a − log b) = e^a/b, and √(s²) = s."""
        flip = rule.parity if value > P // 2 else 0
        key = rule.name, P - value if flip else value
        if key not in self._values:
            self._values[key] = (self._by_law(value) if rule.name == "exp" else None) or self.draw(0.0)
            self._remember(rule, key[1], self._values[key])
        return self._values[key] * (flip or 1) % P

    def _by_law(self, value: int) -> int | None:
        """e^value from what other exponentials are."""
        opposite = self._values.get(("exp", -value % P))
        if opposite:
            return pow(opposite, -1, P)
        for log, argument in self._logs.items():
            whole = self._values.get(("exp", (value + log) % P))
            if whole:
                return whole * pow(argument, -1, P) % P
        return None

    def _remember(self, rule: Rule, argument: int, value: int) -> None:
        if rule.name == "exp":
            self._values["log", value] = argument
        elif rule.name == "log":
            self._values["exp", value] = argument
            self._logs[value] = argument
        elif rule.degree:
            self._powers[argument] = pow(value, rule.degree, P)
            self._values[rule.name, self._powers[argument]] = value


@functools.cache
def _in_field(x: float) -> int:
    number = constant(x)
    value = _fraction(number.ratio)
    if number.is_root:
        if pow(value, (P - 1) // 2, P) != 1:  # no square: nothing but the float itself
            return _fraction(Fraction(x))
        value = pow(value, (P + 1) // 4, P)  # of the two roots the one that has a root itself: √a √b = √(ab)
    return number.sign * value * pow(_ROOT_OF_PI, number.halves_of_pi, P) % P


def _fraction(ratio: Fraction) -> Any:
    return ratio.numerator * pow(ratio.denominator, -1, P) % P
