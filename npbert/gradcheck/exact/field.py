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

from npbert.gradcheck.exact.number import Number, World, constant
from npbert.gradcheck.exact.rules import Rule

P = 281076124 * math.lcm(*range(1, 67)) - 1
"""A prime of 118 bits. As P + 1 is a multiple of all whole numbers up to 66, they have roots."""

_UNDERFLOW = -745.2  # e to this is 0 in floats
_ROOT_OF_PI = 177245385090551602729816748334114518  # π is not a root of an equation, so any number will do
_INVERSES = {"exp": "log", "log": "exp"}


class Field(World):
    """Integers modulo P. seed: of all random numbers.

    random_powers: by a number without a root of degree d, the power s^d of the random number s in place of the root.
    """

    modulus = P

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.rng = random.Random(int(seed))
        self._values: dict[tuple[str, int], int] = {("log", 1): 0}
        self.random_powers = dict[int, int]()

    def draw(self) -> int:
        """Return any element of the field."""
        return self.rng.randrange(P)

    def unknown(self, seen: float) -> Number:
        """Return any Number, whatever its float."""
        return Number(self.draw(), self.draw(), seen)

    @staticmethod
    @functools.cache
    def constant(x: float) -> Any:
        """Return the element for a float's exact number."""
        sign, ratio, is_root, halves = constant(x)
        value = _fraction(ratio)
        root = root_of(value, 2) if is_root else value
        if root is None:
            return _fraction(Fraction(x))
        return sign * root * pow(_ROOT_OF_PI, halves, P) % P

    def inverse(self, value: int) -> int:
        """Return 1/value. If √value was taken, as a random s, it is s⁻²."""
        return pow(self.random_powers.get(value, value), -1, P)

    def function(self, rule: Rule, x: Number) -> int:
        """Return a random number for each argument that keeps these laws: odd and even functions, e^(a + b) = e^a e^b,
        e^(−a) = 1/e^a, log e^a = a, e^(log a) = a, sin² + cos² = 1, and √(s²) = s. A square root in the field is that
        root, so √a √a = a holds for half of all numbers. e^x is 0 if it underflows in floats."""
        if rule.name != "exp":
            return self._value(rule, x.value)
        product, waiting = int(x.seen > _UNDERFLOW), [(x, 1)]
        while waiting:
            term, sign = waiting.pop()
            if term.terms:
                waiting += [(part, sign * each) for part, each in term.terms]
            elif term.value:
                product = product * self._value(rule, sign * term.value % P) % P
        return product

    def _value(self, rule: Rule, argument: int) -> int:
        if rule.parity and argument > P // 2:
            return rule.parity * self._value(rule, P - argument) % P
        if (rule.name, argument) not in self._values:
            self._remember(rule, argument)
        return self._values[rule.name, argument]

    def _remember(self, rule: Rule, argument: int) -> None:
        """Choose the value of a function, and the values that depend on it by a law."""
        values, name = self._values, rule.name
        value = self.draw() if argument or not rule.parity else 0
        if rule.degree:
            root = root_of(argument, rule.degree)
            if root is None:
                power = self.random_powers[argument] = pow(value, rule.degree, P)
                values[name, power] = root = value
            value = root
        elif name == "exp" and (name, P - argument) in values:
            value = pow(values[name, P - argument], -1, P)
        elif name in ("sin", "cos"):  # with the tangent of half the angle, which is the value
            inverse = pow(1 + value * value, -1, P)
            values["sin", argument] = 2 * value * inverse % P
            values["cos", argument] = (1 - value * value) * inverse % P
            return
        values[name, argument] = value
        if name in _INVERSES:
            values[_INVERSES[name], value] = argument


def root_of(a: int, degree: int) -> int | None:
    """Return the root in the field, or None. One of an even degree is itself a square, so that √a √b = √(ab)."""
    order = P - 1 if degree % 2 else (P - 1) // 2
    return pow(a, pow(degree, -1, order), P) if pow(a, order, P) in (0, 1) else None


def _fraction(ratio: Fraction) -> Any:
    return ratio.numerator * pow(ratio.denominator, -1, P) % P
