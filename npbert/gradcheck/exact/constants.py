"""Turns a float into an exact number: 0.1 is a tenth, and 1.4142135623730951 is √2.

A float is rounded, and exact arithmetic would see it: twice the square of the float for √2 is not 4. So a float becomes
the simplest number that rounds to it.
"""

import functools
import math
from fractions import Fraction
from typing import NamedTuple

_SHORT = 2**40  # numerator times denominator of a fraction that is not there by chance
_ROUNDING = 1e-15


class Constant(NamedTuple):
    """ratio · π^(halves_of_pi/2), or √ratio · π^(halves_of_pi/2), with the sign in front of the root."""

    sign: int
    ratio: Fraction
    is_root: bool
    halves_of_pi: int


@functools.cache
def constant(x: float) -> Constant:
    """Return the first of these that rounds to x, with a short fraction r: r, √r, and both times √π, 1/√π, π or 1/π;
    otherwise the float's own fraction. It also finds 3 · 0.044715, a product that was rounded again."""
    sign = -1 if x < 0 else 1
    for halves_of_pi in (0, 1, -1, 2, -2):
        u = abs(x) / math.pi ** (halves_of_pi / 2)
        for power in (1, 2):
            ratio = simplest(Fraction(u) ** power, _ROUNDING * power)
            if ratio is not None:
                return Constant(sign, ratio, power == 2, halves_of_pi)
    return Constant(sign, Fraction(abs(x)), False, 0)


def simplest(x: Fraction, rounding: float) -> Fraction | None:
    """Return the fraction n/d with n · d up to 2⁴⁰ that equals x ≥ 0 within a relative error of `rounding`, or None.
    (There is at most one.)"""
    found = x.limit_denominator(max(1, math.isqrt(_SHORT * x.denominator // x.numerator) if x else 1))
    return found if abs(x - found) <= Fraction(rounding) * x else None
