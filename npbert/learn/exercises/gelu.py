"""Exercise 3: GELU."""

from dataclasses import replace

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.gradcheck.explain import Finding
from npbert.gradcheck.explain.reasons import KINDS
from npbert.layers import GELU, TanhGELU
from npbert.layers.gelu import _cdf
from npbert.learn.compared import Numbers
from npbert.learn.exercise import CHAPTERS, Exercise, Message
from npbert.learn.layers import layer_part
from npbert.learn.layers_run import layer_numbers, returning
from npbert.learn.numbers import whole
from npbert.learn.source import Blank

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
PLAIN = """
def value_and_slope(self, x):
    y = self.value(x)
    cdf = _cdf(x)
    e = np.exp(-(x * x) / 2)
    density = e / math.sqrt(2 * math.pi)
    slope = cdf + x * density
    return y, slope
"""
REASONS = {
    "y": "Of the two arrays returned the first is y = x Φ(x), which forward hands on, and the second its slope.",
    "dx": "In x Φ(x) the x stands twice, so the product rule adds two terms: y′ = Φ(x) + x φ(x), with the density "
    "φ(x) = e^(−x²/2) / √(2π).",
}


def setting(*shape: int) -> Setting:
    """A GELU, and an x of this shape with a 0 in it, where y / x is no Φ(x)."""

    def inputs(rng: np.random.Generator) -> tuple[Array]:
        x = 1.5 * rng.standard_normal(shape)
        x[0, 0] = 0
        return (x,)

    return Setting(GELU, lambda cls, init: returning(cls, "value_and_slope", {"y": 1, "slope": 1})(), inputs)


def first(given: Numbers, right: Numbers) -> Message | None:
    """The message where the slope is that of another function, which no small change of it shows."""
    broken = PART.first(given, right)
    of_tanh = {"value_and_slope": lambda self, x: (self.value(x), TanhGELU().value_and_slope(x)[1])}
    tanh = whole(layer_numbers(SETTINGS[0], type("OfTanh", (GELU,), of_tanh), 0, {}))
    if broken is not None or given["dx"].shape != tanh["dx"].shape or not np.allclose(given["dx"], tanh["dx"], 1e-9):
        return broken
    another = Finding("function", "dx", "", "", "", KINDS["function"].cause)
    return Message(
        "The slope is that of another function: the approximation of GELU by tanh.",
        "The two functions differ by less than a thousandth, which no training shows. But this forward computes "
        "x Φ(x), with erf, and its slope is Φ(x) + x φ(x).",
        (another,),
    )


SETTINGS = setting(7, 5), setting(4, 9)
PART = layer_part(SETTINGS, BLANK, PLAIN, REASONS, helpers=(_cdf,))
EXERCISE = Exercise("GELU", CHAPTERS[1], TEXT, HINTS, (replace(PART, first=first),))
