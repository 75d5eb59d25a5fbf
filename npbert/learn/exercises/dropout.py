"""Exercise 8: dropout."""

from npbert.layers import Dropout
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, normal, sample

TEXT = """
In training, dropout sets each number to 0 with probability p, and multiplies the others by 1/(1 − p), so that the
expected value stays the same. Each forward draws the dropped numbers again, and keeps a mask on the tape: True where a
number is kept.

In evaluation there is no generator and no dropout: y is x, and the mask is None.
"""
ASKED = "Return dx, of the shape of x. mask is True where x was kept, and None if nothing was dropped."
HINTS = """
A dropped number does not affect the loss: its gradient is 0. A kept number was multiplied by 1/(1 − p), and so is its
gradient.

Backward is the same as forward, applied to dy, with the same mask. Which method of this class could you call?

Return self.apply(dy, mask). Or in full: dy if mask is None, else dy * mask / (1 - self.p).
"""
PLAIN = """
def backward(self, dy, tape):
    shape, dtype, mask = tape.take(self)
    if mask is None:
        return dy
    factor = 1 / (1 - self.p)
    dx = dy * mask * factor
    return dx
"""
REASONS = {
    "dx": "A kept number was multiplied, and its gradient gets the same factor; a dropped number does not affect the "
    "loss. The mask is the one that forward drew. If it is None, nothing was dropped, and y is x.",
}
ADVICE = {
    r"NoneType.*\n.*mask": "If mask is None, nothing is dropped: y is x, and dx is dy.",
    "TapeError: .*still holds": "Backward takes forward's entry off the tape, and puts nothing on it. Perhaps "
    "it calls self.forward.",
}
PART = layer_part(
    sample(Dropout, normal(11, 7), 0.3),
    sample(Dropout, normal(5, 9), 0.2),
    drops=True,
    asked=ASKED,
    plain=PLAIN,
    reasons=REASONS,
    advice=ADVICE,
)
EXERCISE = Exercise("dropout", CHAPTERS[7], TEXT, HINTS, (PART,))
