"""Field: the world of the proof. Its numbers are whole numbers from 0 to P − 1, with the arithmetic of a clock with P
hours.

What a reader who knows polynomials needs of it:

- Sums and products are those of whole numbers, without multiples of P. So all rules of school algebra hold, and nothing
  is rounded.
- One can divide: as P is a prime, every number but 0 has an inverse. (Why: "Can one divide on a clock?" in
  docs/09-prove-a-gradient.md.) Such a set of numbers is called a field.
- Formulas that school algebra makes equal are equal here. Formulas that differ are two polynomials after a common
  denominator, and their difference has few zeros. So at a random point it is hardly ever 0: see `prove.py`.
- No number is large or near another, so there is no limit, and no function such as exp. Instead, e^a is a random number
  for each a, of which only the derivative and a few laws are known (`Field.function`). A backward that is right for
  every function with this derivative is right for exp.
- Half of all numbers have a square root, as on the real line. The others get a random number in its place.
"""

import functools
import math
import random
from fractions import Fraction
from typing import Any

from npbert.gradcheck.exact.constants import constant
from npbert.gradcheck.exact.number import Number, World
from npbert.gradcheck.exact.rules import Rule

_PRIMES = 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61

P = 4 * 708311844473 * math.prod(_PRIMES) - 1
"""A prime of 118 bits. As P + 1 is a multiple of 4 and of the primes below 62, whole numbers up to 66 have roots."""

_UNDERFLOW = -745.2  # e to this is 0 in floats
_ROOT_OF_PI = pow(3, 10**9, P)  # π is not a root of an equation, so any number will do


class Field(World):
    """Integers modulo P. rng: also draws tangents and the values of functions.

    has_random_roots: True after a square root that the field may have or not, by the point.
    """

    modulus = P

    def __init__(self, seed: int) -> None:
        super().__init__(random.Random(int(seed)))
        self._values: dict[tuple[str, int], int] = {("log", 1): 0}
        self.has_random_roots = False
        self._powers: dict[int, int] = {}  # by a with a root s of degree d: s^d, which replaces a

    def draw(self, seen: float) -> int:
        """Any element of the field, whatever the float."""
        return int(self.rng.randrange(P))

    def draw_tangent(self) -> int:
        """Any element of the field."""
        return self.draw(0.0)

    def constant(self, x: float) -> int:
        """Return the element for a float's exact number."""
        return _in_field(x)

    def inverse(self, value: int) -> int:
        """Return 1/value. If √value was taken, as a random s, it is s⁻²."""
        return pow(self._powers.get(value, value), -1, P)

    def function(self, rule: Rule, x: Number) -> int:
        """Return a random number for each argument that keeps these laws: odd and even functions, e^(a + b) = e^a e^b,
        e^(−a) = 1/e^a, log e^a = a, e^(log a) = a, sin² + cos² = 1, and √(s²) = s. A square root in the field is that
        root, so √a √a = a holds for half of all numbers."""
        if rule.name == "exp":
            return self._exp(x)
        is_flipped = rule.parity != 0 and x.value > P // 2
        argument = P - x.value if is_flipped else x.value
        if (rule.name, argument) not in self._values:
            self._remember(rule, argument)
        value = self._values[rule.name, argument]
        return value * rule.parity % P if is_flipped else value

    def _exp(self, x: Number) -> int:
        """Return the product of e^term over the terms of x. It is 0 if it underflows in floats."""
        if x.seen < _UNDERFLOW:
            return 0
        product, waiting = 1, [(x, 1)]
        while waiting:
            term, sign = waiting.pop()
            if term.terms:
                waiting += [(part, sign * each) for part, each in term.terms]
            elif term.value:
                product = product * self._exp_of(sign * term.value % P) % P
        return product

    def _exp_of(self, value: int) -> int:
        if ("exp", value) not in self._values:
            opposite = self._values.get(("exp", P - value))
            self._values["exp", value] = pow(opposite, -1, P) if opposite else self.draw(0.0)
            self._values["log", self._values["exp", value]] = value
        return self._values["exp", value]

    def _remember(self, rule: Rule, argument: int) -> None:
        """Choose the value of a function, and the values that depend on it by a law."""
        if rule.degree:
            value = self._root(argument, rule.degree)
            self._powers[argument] = pow(value, rule.degree, P)
            self._values[rule.name, self._powers[argument]] = value
        elif rule.name in ("sin", "cos"):  # with the tangent of half the angle
            half = self.draw(0.0) if argument else 0
            inverse = pow(1 + half * half, -1, P)
            self._values["sin", argument] = 2 * half * inverse % P
            self._values["cos", argument] = (1 - half * half) * inverse % P
            return
        else:
            value = self.draw(0.0) if argument or rule.parity == 0 else 0
        self._values[rule.name, argument] = value
        if rule.name == "log":
            self._values["exp", value] = argument

    def _root(self, a: int, degree: int) -> int:
        """Return the root of this degree, or a random number if the field has none."""
        if degree % 2:
            return pow(a, pow(degree, -1, P - 1), P)
        self.has_random_roots = True
        return root_of_square(a, degree) if is_square(a) else self.draw(0.0)


def is_square(a: int) -> bool:
    """True if the field has a square root of a, and so each root of an even degree."""
    return pow(a, (P - 1) // 2, P) in (0, 1)


def root_of_square(a: int, degree: int) -> int:
    """Return the root of a square that is itself a square, so that √a √b = √(ab)."""
    return pow(a, pow(degree, -1, (P - 1) // 2), P)


@functools.cache
def _in_field(x: float) -> int:
    number = constant(x)
    value = _fraction(number.ratio)
    if number.is_root:
        if not is_square(value):
            return _fraction(Fraction(x))
        value = root_of_square(value, 2)
    return number.sign * value * pow(_ROOT_OF_PI, number.halves_of_pi, P) % P


def _fraction(ratio: Fraction) -> Any:
    return ratio.numerator * pow(ratio.denominator, -1, P) % P
