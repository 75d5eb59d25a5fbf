"""Exercise 3, GELU: the wrong answers that people give."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.layers import GELU, TanhGELU
from npbert.layers.gelu import _cdf, _density
from npbert.learn.exercise import Mistake, Mistakes, both

WRONG = Mistakes(GELU, "value_and_slope")


@WRONG(
    "The slope is Φ(x) alone: the x inside Φ is missing.",
    "In x Φ(x) the x appears twice. With the factor held still, Φ moves, too, φ(x) times as fast as x. The product "
    "rule adds that: y′ = Φ(x) + x φ(x).",
)
def product_rule_cut_short(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x)


@WRONG(
    "The slope is x φ(x) alone: the x in front of Φ is missing.",
    "In x Φ(x) the x appears twice. As a factor it moves y Φ(x) times as fast as itself. The product rule adds that: "
    "y′ = Φ(x) + x φ(x).",
)
def factor_forgotten(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), x * _density(x)


@WRONG(
    "The slope is Φ(x) + φ(x): φ lacks its factor x.",
    "By the product rule the slope of Φ is multiplied by what stands before Φ in the product, which is x: "
    "y′ = Φ(x) + x φ(x).",
)
def density_without_x(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x) + _density(x)


@WRONG(
    "The slope is φ(x) alone, which is that of Φ(x) and not of x Φ(x).",
    "y is a product of x and Φ(x), and both move. The product rule: y′ = Φ(x) + x φ(x).",
)
def slope_of_the_cdf(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _density(x)


@WRONG(
    "φ(x) lacks its factor 1/√(2π): yours is e^(−x²/2) alone.",
    "φ is a density: over all x it has to add up to 1, and e^(−x²/2) adds up to √(2π).",
)
def density_not_normalised(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x) + x * np.exp(-0.5 * x * x)


@WRONG(
    "φ(x) has e^(−x²), but should have e^(−x²/2).",
    "erf has e^(−z²) in its slope, with z = x/√2: so z² is x²/2.",
)
def exponent_not_halved(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x) + x * np.exp(-x * x) / math.sqrt(2 * math.pi)


@WRONG(
    "φ(x) is √2 times too large, as if the 1/√2 inside erf was not differentiated, or the 2 in √(2π) was lost.",
    "Φ(x) = ½ (1 + erf(x/√2)). The slope of erf(z) is 2/√π · e^(−z²), and z = x/√2 moves 1/√2 times as fast as x. "
    "Times the ½ in front that is 1/√(2π) · e^(−x²/2).",
)
def inner_derivative_forgotten(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x) + math.sqrt(2) * x * _density(x)


@WRONG(
    "φ(x) is twice too large, as if the ½ in front of erf was lost.",
    "Φ(x) = ½ (1 + erf(x/√2)): the ½ stays in front of the slope of erf, 2/√π · e^(−z²).",
)
def half_forgotten(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x) + 2 * x * _density(x)


@WRONG(
    "The second term has the wrong sign: the slope is not Φ(x) − x φ(x), but Φ(x) + x φ(x).",
    "Both terms of the product rule are added. The minus is inside the exponent of φ(x) = e^(−x²/2) / √(2π), and there "
    "it stays, as φ is the slope of Φ and needs no further derivative.",
)
def sign_lost(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x) - x * _density(x)


@WRONG(
    "The slope is that of another function: the approximation of GELU by tanh.",
    "The two functions differ by less than a thousandth, which no training shows. But this forward computes x Φ(x), "
    "with erf, and its slope is Φ(x) + x φ(x).",
)
def slope_of_the_tanh_form(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), TanhGELU().value_and_slope(x)[1]


@WRONG(
    "φ(x) has ½ e^(−x²), but should have e^(−x²/2): the half belongs into the exponent.",
    "In Python, np.exp(-x**2) / 2 halves what comes out of exp. Inside it is np.exp(-x * x / 2).",
)
def half_outside(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x) + x * np.exp(-x * x) / 2 / math.sqrt(2 * math.pi)


@WRONG(
    "φ(x) has e^(−|x|/2), but should have e^(−x²/2): x is not squared.",
    "The density of the normal distribution is e^(−x²/2) / √(2π).",
)
def exponent_not_squared(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x) + x * np.exp(-np.abs(x) / 2) / math.sqrt(2 * math.pi)


@WRONG(
    "φ(x) has e^(+x²/2): the minus in its exponent is lost.",
    "A density falls to both sides of 0. In Python, -x ** 2 is −(x²), but (-x) ** 2 is x²: np.exp(-x * x / 2).",
)
def exponent_without_minus(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x) + x * np.exp(x * x / 2) / math.sqrt(2 * math.pi)


@WRONG(
    "value_and_slope returns its two arrays in the wrong order: the slope came first, and y should.",
    "forward takes what it returns apart as y, slope = …: return y, slope.",
)
def value_and_slope_swapped(self: GELU, x: Array) -> tuple[Array, Array]:
    return _cdf(x) + x * _density(x), self.value(x)


_EXPONENTS: dict[str, Callable[[Array], Array]] = {
    "exponent_not_halved": lambda x: np.exp(-x * x),
    "exponent_without_minus": lambda x: np.exp(x * x / 2),
    "half_outside": lambda x: np.exp(-x * x) / 2,
    "exponent_not_squared": lambda x: np.exp(-np.abs(x) / 2),
}
_OTHERS: dict[str, Callable[[Array, Array], Array]] = {
    "density_not_normalised": lambda x, e: _cdf(x) + x * e,
    "inner_derivative_forgotten": lambda x, e: _cdf(x) + x * e / math.sqrt(math.pi),
    "sign_lost": lambda x, e: _cdf(x) - x * e / math.sqrt(2 * math.pi),
    "density_without_x": lambda x, e: _cdf(x) + e / math.sqrt(2 * math.pi),
    "factor_forgotten": lambda x, e: x * e / math.sqrt(2 * math.pi),
}


def pairs() -> Iterator[Mistake]:
    """Each wrong exponent with what else may be wrong."""
    by_name = {mistake.name: mistake for mistake in WRONG}
    for (name, exponential), (other, slope) in itertools.product(_EXPONENTS.items(), _OTHERS.items()):

        def value_and_slope(self: GELU, x: Array, of: Any = exponential, slope: Any = slope) -> tuple[Array, Array]:
            return self.value(x), slope(x, of(x))

        thing = type("Both", (GELU,), {"value_and_slope": value_and_slope, "__module__": "mistakes"})
        yield both(by_name[name], by_name[other], thing)
