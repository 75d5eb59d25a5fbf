"""Exercise 9: the residual connections of an encoder layer."""

import numpy as np

from npbert.blocks import EncoderLayer
from npbert.catalogue import Setting
from npbert.core import Sequences
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part

TEXT = """
An encoder layer is two halves, and each half is LayerNorm(s) with s = u + Dropout(f), where attention, or the
feed-forward, made f from u. All its parts know their own backwards. What is left is to call them in the right order,
and to bring together what comes back: u has two roads to the loss, past the sub-layer and through it.

The order matters: the tape hands things back in the reverse order of forward. Attention has two inputs: it makes the
queries of x, and the keys and the values of z. Its backward returns a gradient for each of the two.
"""
ASKED = """
Return (dx, dz), of the shapes of x and z.

Call the backward of each part, in the reverse order of forward, with what came back so far and the tape:
self.output_norm, self.dropout, self.feed_forward, self.attention_norm, self.dropout, self.attention.
"""
HINTS = """
Undo the last line first: ds = self.output_norm.backward(dy, tape). s is a sum of h and of what dropout gave, and a sum
hands its gradient to both of its sides, unchanged.

Through the sub-layer: df = self.dropout.backward(ds, tape), then self.feed_forward.backward(df, tape). Past it: ds as
it is. Where the two roads meet, at h, they are added: dh = ds + self.feed_forward.backward(df, tape).

The first half is the same with dh in place of dy, self.attention_norm, and self.attention.backward(df, tape), which
returns two: the gradient of x as queries, and dz. x went past attention and into it: dqueries, dz =
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
Each half is LayerNorm(u + Dropout(f)). Both roads begin inside the bracket, where the norm's backward ends: past the
sub-layer what it returned goes on as it is, through the sub-layer it goes through dropout first.
""".strip().replace("\n", " ")
REASONS = {
    "dx": f"{HALF} For x the two roads are past attention, and through it as queries.",
    "dz": "z goes into attention and nowhere else. So dz is all that comes back for it there, and it is right where "
    "what attention's backward is given is right.",
    "dx, dz": f"{HALF} Where they meet again, at h and at x, what came back along both is added.",
}
TOP = "TapeError: .*on top of the tape is what"
ORDER = "The whole order is output_norm, dropout, feed_forward, attention_norm, dropout, attention."
ADVICE = {
    rf"{TOP} another .*\n.*self\.output_norm": f"Next comes the backward of attention_norm. {ORDER}",
    rf"{TOP} another .*\n.*self\.attention_norm": f"Next comes the backward of output_norm. {ORDER}",
    rf"{TOP} (?:another )?(\w+)": rf"Next comes the backward of a \1. {ORDER}",
}


def setting(sizes: tuple[int, int, int], lengths: tuple[int, ...], dropout: float, attention_dropout: float) -> Setting:
    """An EncoderLayer of D features, H heads and F inside the feed-forward, and rows of sequences as long as these."""
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
