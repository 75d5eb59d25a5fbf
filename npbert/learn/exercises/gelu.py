"""Exercise 3: GELU."""

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.layers import GELU
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, sample

TEXT = """
An activation maps each number separately: y = f(x). So dx = dy · f′(x), and you only need the slope f′(x), of the shape
of x. forward and backward are already in npbert/layers/elementwise.py: forward calls value_and_slope and keeps the
slope, and backward returns dy times the slope.

Here f(x) = x Φ(x), where Φ(x) is the probability that a standard normal number is smaller than x. Its slope Φ′ is the
density of the normal distribution, φ(x) = e^(−x²/2) / √(2π).
"""
ASKED = """
Return y = x Φ(x) and its slope y′, both of the shape of x.

y is self.value(x). For y′ you need Φ(x), a function below, and φ(x) = e^(−x²/2) / √(2π). (The approximation by
tanh is another function: its slope differs by less than a thousandth.)
"""
HINTS = """
x appears twice in x Φ(x): as the factor in front, and inside Φ. Each adds a term to the slope.

The product rule: (u v)′ = u′ v + u v′. Here u = x, with u′ = 1, and v = Φ(x), with v′ = φ(x).

y′ = Φ(x) + x φ(x), with φ(x) = np.exp(-x * x / 2) / math.sqrt(2 * math.pi).
"""
PLAIN = """
def value_and_slope(self, x):
    y = self.value(x)
    cdf = 0.5 * (1 + erf(x, divisor=math.sqrt(2)))
    e = np.exp(-(x * x) / 2)
    density = e / math.sqrt(2 * math.pi)
    slope = cdf + x * density
    return y, slope
"""
REASONS = {
    "y": "The first of the two arrays is y = x Φ(x), forward's output, and the second is its slope.",
    "dx": "It is the slope of a product: in x Φ(x) the x appears twice, as the factor in front and inside Φ. Each "
    "adds a term.",
}


def setting(*shape: int) -> Setting:
    """Return the setting of a GELU, and an x of this shape with a 0 in it, where y / x is not Φ(x)."""

    def inputs(rng: np.random.Generator) -> tuple[Array]:
        x = 1.5 * rng.standard_normal(shape)
        x[0, 0] = 0
        return (x,)

    return sample(GELU, inputs)


PART = layer_part(
    setting(7, 5),
    setting(4, 9),
    method="value_and_slope",
    returns={"y": 1, "slope": 1},
    given=0,
    asked=ASKED,
    plain=PLAIN,
    reasons=REASONS,
)
EXERCISE = Exercise("GELU", CHAPTERS[1], TEXT, HINTS, (PART,))
