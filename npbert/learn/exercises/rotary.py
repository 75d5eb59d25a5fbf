"""Exercise 16: rotary positions."""

import numpy as np

from npbert.catalogue import Setting
from npbert.layers import Rotary
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part

TEXT = """
ModernBERT has no table of positions. It turns each query and each key, pair by pair, by an angle that grows with the
position: (a, b) becomes (a cos φ − b sin φ, b cos φ + a sin φ). Feature i of a head and feature i + d/2 are a pair.

Nothing is learned here, so all that is asked is dx. An a moves two numbers of y, its own and that of its partner, and
so does a b: what comes back from the two adds up.
"""
ASKED = """
Return dx, of the shape of dy.

dy (N, D): for each row, H heads of d/2 first members a, then d/2 second members b
cos, sin (N, d/2): of each angle φ
"""
HINTS = """
Write one pair as a product: y = R x with R = (cos, −sin; sin, cos). You know the gradient of x in a product.

dx = Rᵀ dy, and Rᵀ = (cos, sin; −sin, cos). What does this matrix do to a pair? Compare it with R for the angle −φ.

It turns the pair back. So dx is what _turned makes of dy with cos as it is and −sin in place of sin: cos(−φ) = cos φ
and sin(−φ) = −sin φ. Return _turned(dy, cos, -sin).
"""
PLAIN = """
def backward(self, dy, tape):
    shape, dtype, cos, sin = tape.take(self)
    half = cos.shape[1]
    pairs = dy.reshape(len(dy), -1, 2, half)
    da_turned = pairs[:, :, 0]
    db_turned = pairs[:, :, 1]
    c = cos[:, None]
    s = sin[:, None]
    da = da_turned * c + db_turned * s
    db = db_turned * c - da_turned * s
    dx = np.stack([da, db], axis=2)
    return dx.reshape(shape)
"""
REASONS = {
    "dx": "A pair is turned by the matrix (cos, −sin; sin, cos), and its gradient by the transpose of that, which has "
    "the sines with the other sign: the rotation back.",
}


def setting(features: int, heads: int, *positions: int) -> Setting:
    """A Rotary for heads of `features` features, and a row for each of the positions."""
    return Setting(
        Rotary,
        lambda cls, init: cls(features, 10.0, init.dtype),
        lambda rng: (rng.standard_normal((len(positions), heads * features)), np.array(positions)),
    )


PART = layer_part(
    setting(6, 2, 0, 1, 2, 5, 1), setting(4, 3, 7, 0, 3, 1, 2, 3, 9), asked=ASKED, plain=PLAIN, reasons=REASONS
)
EXERCISE = Exercise("rotary positions", CHAPTERS[11], TEXT, HINTS, (PART,))
