"""Exercise 3: GELU."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.gradcheck import GradientError
from npbert.layers import GELU, TanhGELU
from npbert.layers.gelu import _cdf, _density
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise, Finding, Mistake, Mistakes, both
from npbert.learn.layers import layer_part
from npbert.learn.numbers import Numbers
from npbert.learn.source import Blank, class_source, exercise_file, function_source
from npbert.learn.terms import Terms


def _checked(cls: type[Any], init: Any) -> Any:
    """A layer that says so when value_and_slope does not return two arrays like x."""

    def value_and_slope(self: Any, x: Array) -> Any:
        found = cls.value_and_slope(self, x)
        if not isinstance(found, tuple | list) or len(found) != 2:
            given = "nothing" if found is None else "one array" if isinstance(found, np.ndarray) else "something else"
            raise GradientError(f"value_and_slope returns {given}, wanted two arrays: return y, slope")
        for name, part in zip(("y", "slope"), found, strict=True):
            if np.shape(part) != x.shape:
                raise GradientError(f"the {name} of value_and_slope has the shape {np.shape(part)}, wanted {x.shape}")
        return tuple(found)

    return type(cls.__name__, (cls,), {"value_and_slope": value_and_slope})()


SETTING = Setting(GELU, _checked, lambda rng: (1.5 * rng.standard_normal((7, 5)),))
WRONG = Mistakes(GELU, "value_and_slope")

TEXT = """
An activation takes each number by itself: y = f(x). So dx = dy · f′(x), and all that is to be found is the slope f′(x),
of the shape of x. forward and backward are written already, in npbert/layers/elementwise.py: forward calls
value_and_slope and keeps the slope, and backward returns dy times the slope.

Here f(x) = x Φ(x), where Φ(x) is the probability that a standard normal number is smaller than x. Its slope Φ′ is the
density of the normal distribution, φ(x) = e^(−x²/2) / √(2π).
"""
BLANK = Blank(
    "value_and_slope",
    """Return y = x Φ(x) and its slope y′, both of the shape of x.

    y is self.value(x). For y′ you need Φ(x), which is _cdf(x), and φ(x) = e^(−x²/2) / √(2π).
    """,
    given=0,
)
HINTS = (
    "x appears twice in x Φ(x): as the factor in front, and inside Φ. Each of the two has a say in the slope.",
    "The product rule: (u v)′ = u′ v + u v′. Here u = x, with u′ = 1, and v = Φ(x), with v′ = φ(x).",
    "y′ = Φ(x) + x φ(x), with φ(x) = np.exp(-x * x / 2) / math.sqrt(2 * math.pi).",
)


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
    "φ(x) is √2 times too large: the 1/√2 inside erf was not differentiated.",
    "Φ(x) = ½ (1 + erf(x/√2)). The slope of erf(z) is 2/√π · e^(−z²), and z = x/√2 moves 1/√2 times as fast as x. "
    "Times the ½ in front that is 1/√(2π) · e^(−x²/2).",
)
def inner_derivative_forgotten(self: GELU, x: Array) -> tuple[Array, Array]:
    return self.value(x), _cdf(x) + math.sqrt(2) * x * _density(x)


@WRONG(
    "φ(x) is twice too large: the ½ in front of erf was lost.",
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


def wrong_value(given: Numbers, right: Numbers) -> Finding | None:
    """Whether the first of what value_and_slope returns is not y."""
    if np.allclose(given["y"], right["y"], rtol=1e-9, atol=1e-12):
        return None
    return Finding(
        "The first of the two arrays that value_and_slope returns is not y = x Φ(x).",
        "forward hands it on as y. self.value(x) is y; what is to be found is the second, its slope: return y, slope.",
    )


TERMS = Terms(
    {
        "Φ(x)": next(each.thing for each in WRONG if each.name == "product_rule_cut_short"),
        "x φ(x)": next(each.thing for each in WRONG if each.name == "factor_forgotten"),
    },
    "Right is y′ = Φ(x) + x φ(x), with φ(x) = np.exp(-x * x / 2) / math.sqrt(2 * math.pi).",
    ways=(("Φ(x)", "x φ(x)"),),
    look=(("x φ(x)", "look at the brackets"),),
)

EXERCISE = Exercise(
    number=3,
    slug="gelu",
    title="GELU",
    chapter=chapter(1),
    hints=HINTS,
    parts=(layer_part(SETTING, WRONG, recognise=wrong_value, roads=TERMS, pairs=pairs),),
    source=lambda: exercise_file(
        3,
        "GELU",
        chapter(1),
        TEXT,
        [class_source(GELU, BLANK), function_source(_cdf)],
    ),
    blanks=("GELU.value_and_slope",),
)
