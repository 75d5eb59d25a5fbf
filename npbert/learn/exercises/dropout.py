"""Exercise 8: dropout."""

from npbert.layers import Dropout
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, normal, sample

TEXT = """
While training, dropout sets each number to 0 with probability p, and multiplies the others by 1/(1 − p), so that the
expected value stays the same. Which numbers are dropped is drawn anew in each forward, and kept on the tape as a mask:
True where a number is kept.

In evaluation nothing is dropped: there is no generator to draw from, y is x, and the mask is None.
"""
ASKED = "Return dx, of the shape of x. mask is True where x was kept, and None where nothing was dropped."
HINTS = """
A number that was dropped had no say in the loss: its gradient is 0. A number that was kept was multiplied by 1/(1 − p):
so is its gradient.

Backward is the same as forward, applied to dy, with the same mask. So which method of this class could you call?

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
    "dx": "What was kept was multiplied, and its gradient is multiplied by the same; what was set to 0 had no say in "
    "the loss. The mask says which these are, as forward drew it. Where it is None, nothing was dropped, and y is x.",
}
ADVICE = {
    r"NoneType.*\n.*mask": "mask is None when nothing is dropped: y is x then, and dx is dy.",
    "TapeError: .*still holds": "Backward takes what forward kept off the tape, and puts nothing on it. Does it call "
    "self.forward?",
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
