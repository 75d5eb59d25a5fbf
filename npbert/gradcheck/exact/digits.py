"""Digits: the world of real numbers with 50 digits, where functions are what they are.

The proof says that a backward is right for every function with the derivative of exp. If one is not, it may still be
right for exp itself, by a law that the proof does not know, or it is wrong: with 50 digits the two are far apart. And
here each gradient has a size, as in the user's own floats.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.constants import constant
from npbert.gradcheck.exact.number import Rule, World
from npbert.gradcheck.exact.run import Part, run_on_numbers

CONTEXT = Context(prec=50)
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
_NEAR = 1e-3


class Digits(World):
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
        """The number that the float stands for."""
        number = constant(x)
        value = Decimal(number.ratio.numerator) / Decimal(number.ratio.denominator)
        return number.sign * (value.sqrt() if number.is_root else value) * PI.sqrt() ** number.halves_of_pi

    def inverse(self, value: Decimal) -> Decimal:
        """1/value."""
        return 1 / Decimal(value)

    def function(self, rule: Rule, value: Decimal) -> Decimal:
        """The function, to about 50 digits."""
        if rule.degree > 2:
            return (Decimal(value).ln() / rule.degree).exp()
        return _FUNCTIONS[rule.name](Decimal(value))


class Slope:
    """The derivatives of something by all unknowns: a sum of weights times other slopes, added up at the end. So one
    forward gives them all. (As in reverse mode: Linnainmaa 1970.)
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

    def __mod__(self, modulus: Any) -> Slope:
        return self


def gradients_with_digits(
    part: Part, dy: tuple[Array, ...] | np.random.Generator, *, near: np.random.Generator | None = None
) -> tuple[dict[str, Array], dict[str, Array]]:
    """By name, what backward says and what forward shows: arrays of Decimals.

    near: draws a point near the given one, where nothing is 1 or 0 by chance; None takes the very point.
    """
    with localcontext(CONTEXT):
        run = run_on_numbers(Digits(near), part, dy)
        slopes = _slopes_of(run.growth) if run.growth else {}
        of_slope = np.frompyfunc(lambda slope: slopes.get(slope, Decimal(0)), 1, 1)
        right = {name: np.asarray(of_slope(tangents), object) for name, tangents in run.tangents.items()}
        decimals = np.frompyfunc(Decimal, 1, 1)
        return {name: np.asarray(decimals(said), object) for name, said in run.gradients.items()}, right


def _slopes_of(total: Slope) -> dict[Slope, Decimal]:
    """The weight of each unknown's slope in the total: what was made last is undone first."""
    weights: dict[Slope, Any] = {total: Decimal(1)}
    waiting = [(-total.number, total)]
    while waiting:
        _, slope = heapq.heappop(waiting)
        for weight, other in slope.terms:
            if other not in weights:
                heapq.heappush(waiting, (-other.number, other))
            weights[other] = weights.get(other, 0) + weight * weights[slope]
    return weights


def _series(first: Decimal, ratio: Any) -> Decimal:
    """The sum of terms of which each is ratio(n) times the one before, until they no longer count."""
    total, term, n = Decimal(0), first, 0
    while abs(term) > abs(total) * Decimal("1e-52"):
        total += term
        n += 1
        term *= ratio(n)
    return total


def _arctan(x: Decimal) -> Decimal:
    """By arctan x = 2 arctan(x / (1 + √(1 + x²))), until x is small."""
    if abs(x) > Decimal("0.1"):
        return 2 * _arctan(x / (1 + (1 + x * x).sqrt()))
    return _series(x, lambda n: -x * x * (2 * n - 1) / (2 * n + 1))


def _erf(x: Decimal) -> Decimal:
    """2/√π · x e^(−x²) Σₙ (2x²)ⁿ / (1·3·5…(2n + 1)). (Abramowitz & Stegun 1964, 7.1.6.)"""
    if abs(x) > 11:
        return Decimal(1).copy_sign(x)
    return 2 / PI.sqrt() * (-x * x).exp() * _series(x, lambda n: 2 * x * x / (2 * n + 1))


def _sin(x: Decimal) -> Decimal:
    """x − x³/3! + x⁵/5! − …"""
    x = x.remainder_near(2 * PI)
    return _series(x, lambda n: -x * x / (2 * n * (2 * n + 1)))


_FUNCTIONS: dict[str, Callable[[Decimal], Decimal]] = {
    "exp": Decimal.exp,
    "log": Decimal.ln,
    "sqrt": Decimal.sqrt,
    "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
    "erf": _erf,
    "sin": _sin,
    "cos": lambda x: _sin(x + PI / 2),
    "arctan": _arctan,
}
