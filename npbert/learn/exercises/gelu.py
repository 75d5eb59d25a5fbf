"""Exercise 3: GELU."""

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.layers import GELU
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, sample

TEXT = """
An activation takes each number by itself: y = f(x). So dx = dy · f′(x), and all that is to be found is the slope f′(x),
of the shape of x. forward and backward are written already, in npbert/layers/elementwise.py: forward calls
value_and_slope and keeps the slope, and backward returns dy times the slope.

Here f(x) = x Φ(x), where Φ(x) is the probability that a standard normal number is smaller than x. Its slope Φ′ is the
density of the normal distribution, φ(x) = e^(−x²/2) / √(2π).
"""
ASKED = """
Return y = x Φ(x) and its slope y′, both of the shape of x.

y is self.value(x). For y′ you need Φ(x), for which there is a function below, and φ(x) = e^(−x²/2) / √(2π).
(The approximation by tanh is another function: its slope differs, by less than a thousandth.)
"""
HINTS = """
x appears twice in x Φ(x): as the factor in front, and inside Φ. Each of the two has a say in the slope.

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
    "y": "Of the two arrays returned the first is y = x Φ(x), which forward hands on, and the second its slope.",
    "dx": "The slope is that of a product: in x Φ(x) the x appears twice, as the factor in front and inside Φ. Each of "
    "the two adds a term.",
}


def setting(*shape: int) -> Setting:
    """A GELU, and an x of this shape with a 0 in it, where y / x is no Φ(x)."""

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
