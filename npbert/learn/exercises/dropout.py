"""Exercise 8: dropout."""

from __future__ import annotations

from npbert.catalogue import Setting
from npbert.layers import Dropout
from npbert.learn.attempt import Failure
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise
from npbert.learn.layers import layer_part
from npbert.learn.source import Blank, class_source, exercise_file

TEXT = """
While training, dropout sets each number to 0 with probability p, and multiplies the others by 1/(1 − p), so that the
expected value stays the same. Which numbers are dropped is drawn anew in each forward, and kept on the tape as a mask:
True where a number is kept.

In evaluation nothing is dropped: there is no generator to draw from, y is x, and the mask is None.
"""
BLANK = Blank(
    "backward",
    """Return dx, of the shape of x. mask is True where x was kept, and None where nothing was dropped.""",
)
HINTS = (
    "A number that was dropped had no say in the loss: its gradient is 0. A number that was kept was multiplied by "
    "1/(1 − p): so is its gradient.",
    "Backward is the same as forward, applied to dy, with the same mask. So which method of this class could you call?",
    "Return self.apply(dy, mask). Or in full: dy if mask is None, else dy * mask / (1 - self.p).",
)
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
    "dx": "What was kept was multiplied by 1/(1 − p), and so is its gradient; what was set to 0 had no say in "
    "the loss. Which these are, says the mask as forward kept it: nothing is drawn anew, or counted in this draw.",
    "dx when nothing is dropped": "The mask, and the factor 1/(1 − p), are for what is dropped. Where the mask is "
    "None, y is x, and dx is dy.",
}


def setting(p: float, *shape: int) -> Setting:
    """A Dropout of this p, which is not 0.5, and an x of this shape."""
    return Setting(Dropout, lambda cls, init: cls(p), lambda rng: (rng.standard_normal(shape),))


def advise(failure: Failure) -> str:
    """Where backward has put something on the tape, or takes a mask that is not there."""
    if "NoneType" in failure.message and "mask" in failure.code:
        return "mask is None when nothing is dropped: y is x then, and dx is dy."
    if failure.kind != "TapeError" or "still holds" not in failure.message:
        return ""
    return "Backward takes what forward kept off the tape, and puts nothing on it. Does it call self.forward?"


EXERCISE = Exercise(
    number=8,
    slug="dropout",
    title="dropout",
    chapter=chapter(7),
    hints=HINTS,
    parts=(layer_part(setting(0.3, 11, 7), setting(0.2, 5, 9), plain=PLAIN, reasons=REASONS, advise=advise),),
    source=lambda: exercise_file(8, "dropout", chapter(7), TEXT, [class_source(Dropout, BLANK)]),
    blanks=("Dropout.backward",),
)
