"""Exercise 9: the residual connections of an encoder layer."""

import numpy as np

from npbert.blocks import EncoderLayer
from npbert.catalogue import Setting
from npbert.core import Sequences
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part

TEXT = """
An encoder layer has two halves. Each is LayerNorm(s) with s = u + Dropout(f), where attention, or the feed-forward,
computes f from u. All its parts have a backward. You call them in the right order, and add up gradients: u has two
paths to the loss, past the sub-layer and through it.

The order matters: the tape returns its entries in the reverse order of forward. Attention has two inputs: x gives the
queries, and z gives the keys and the values. Its backward returns a gradient for each of the two.
"""
ASKED = """
Return (dx, dz), of the shapes of x and z.

Call the backward of each part, in the reverse order of forward, with the gradient so far and the tape:
self.output_norm, self.dropout, self.feed_forward, self.attention_norm, self.dropout, self.attention.
"""
HINTS = """
Undo the last line first: ds = self.output_norm.backward(dy, tape). s is the sum of h and the output of dropout, and a
sum passes its gradient to both sides unchanged.

Through the sub-layer: df = self.dropout.backward(ds, tape), then self.feed_forward.backward(df, tape). Past it: ds
itself. At h the two paths meet, and their gradients add up: dh = ds + self.feed_forward.backward(df, tape).

The first half is the same with dh in place of dy, self.attention_norm, and self.attention.backward(df, tape), which
returns two: the gradient of x as queries, and dz. x also has a path past attention: dqueries, dz =
self.attention.backward(df, tape), and then return ds + dqueries, dz.
"""
PLAIN = """
def backward(self, dy, tape):
    ds2 = self.output_norm.backward(dy, tape)
    df2 = self.dropout.backward(ds2, tape)
    dthrough = self.feed_forward.backward(df2, tape)
    dh = ds2 + dthrough
    ds1 = self.attention_norm.backward(dh, tape)
    df1 = self.dropout.backward(ds1, tape)
    dqueries, dz = self.attention.backward(df1, tape)
    dx = ds1 + dqueries
    return dx, dz
"""
HALF = """
Each half is LayerNorm(u + Dropout(f)). Both paths start inside the bracket, with the gradient from the norm's backward.
Past the sub-layer it is unchanged. Through the sub-layer, it first goes through dropout.
""".strip().replace("\n", " ")
REASONS = {
    "dx": f"{HALF} For x the two paths are past attention, and through it as queries.",
    "dz": "z is an input of attention alone. So dz comes only from attention's backward, and is right if "
    "its argument is right.",
    "dx, dz": f"{HALF} At h and at x the paths meet, and their gradients add up.",
}
TOP = "TapeError: .*on top of the tape is what"
ORDER = "The whole order is output_norm, dropout, feed_forward, attention_norm, dropout, attention."
ADVICE = {
    rf"{TOP} another .*\n.*self\.output_norm": f"Next comes the backward of attention_norm. {ORDER}",
    rf"{TOP} another .*\n.*self\.attention_norm": f"Next comes the backward of output_norm. {ORDER}",
    rf"{TOP} (?:another )?(\w+)": rf"Next comes the backward of a \1. {ORDER}",
}


def setting(sizes: tuple[int, int, int], lengths: tuple[int, ...], dropout: float, attention_dropout: float) -> Setting:
    """Return the setting of an EncoderLayer with D features, H heads and feed-forward size F, for sequences of these
    lengths."""
    options = {"dropout": dropout, "attention_dropout": attention_dropout, "layer_norm_eps": 1e-2}
    shape = sum(lengths), sizes[0]
    return Setting(
        EncoderLayer,
        lambda cls, init: cls(*sizes, init, **options),
        lambda rng: (rng.standard_normal(shape), rng.standard_normal(shape), Sequences(np.array(lengths))),
    )


PART = layer_part(
    setting((6, 2, 7), (3, 2), 0.3, 0.2),
    setting((9, 3, 4), (2, 5, 1), 0.2, 0.35),
    drops=True,
    asked=ASKED,
    plain=PLAIN,
    reasons=REASONS,
    advice=ADVICE,
)
EXERCISE = Exercise("residuals, add & norm", CHAPTERS[3], TEXT, HINTS, (PART,))
