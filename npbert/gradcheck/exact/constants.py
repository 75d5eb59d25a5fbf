"""The number that a float stands for: 0.1 is a tenth, and 1.4142135623730951 is √2.

A float is a rounded number. In exact arithmetic the rounding would count: with the float for √2, twice its square is
not 4. So a float becomes the simplest number that rounds to it.
"""

import functools
import math
from fractions import Fraction
from typing import NamedTuple

_SHORT = 2**40  # numerator times denominator of a fraction that nobody meets by chance
_ROUNDING = 1e-15


class Constant(NamedTuple):
    """ratio · π^(halves_of_pi/2), or √ratio · π^(halves_of_pi/2), with the sign in front of the root."""

    sign: int
    ratio: Fraction
    is_root: bool
    halves_of_pi: int


@functools.cache
def constant(x: float) -> Constant:
    """The first of these that rounds to x, with a short fraction r: r, √r, and both times √π, 1/√π, π or 1/π; else the
    very fraction that the float is. So 3 · 0.044715 is found, though the product was rounded once more."""
    sign = -1 if x < 0 else 1
    for halves_of_pi in (0, 1, -1, 2, -2):
        u = abs(x) / math.pi ** (halves_of_pi / 2)
        for power in (1, 2):
            ratio = simplest(Fraction(u) ** power, _ROUNDING * power)
            if ratio is not None:
                return Constant(sign, ratio, power == 2, halves_of_pi)
    return Constant(sign, Fraction(abs(x)), False, 0)


def simplest(x: Fraction, rounding: float = _ROUNDING) -> Fraction | None:
    """The fraction n/d with n · d up to 2⁴⁰ that is x ≥ 0 but for a relative error of `rounding`; None where there is
    none. (There are never two: they would be farther apart.)"""
    found = x.limit_denominator(max(1, math.isqrt(_SHORT * x.denominator // x.numerator) if x else 1))
    return found if abs(x - found) <= Fraction(rounding) * x else None
