"""Exercise 8: dropout."""

from __future__ import annotations

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import Tape
from npbert.layers import Dropout
from npbert.learn.attempt import Failure
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise, Finding, Mistakes
from npbert.learn.layers import layer_part
from npbert.learn.numbers import Numbers
from npbert.learn.source import Blank, class_source, exercise_file

SETTING = Setting(Dropout, lambda cls, init: cls(0.3), lambda rng: (rng.standard_normal((11, 7)),))
WRONG = Mistakes(Dropout, "backward")

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
FRESH = Finding(
    "backward drops other numbers than forward did.",
    "Some numbers that forward dropped get a gradient, and some that it kept get none. Use the mask as it was kept on "
    "the tape: nothing is drawn anew, and each number has a place of its own in it.",
)


def fresh_mask(given: Numbers, right: Numbers) -> Finding | None:
    """Whether each dx is 0 or what a kept number has, but at places that forward does not know."""
    dx, wanted = given["dx"], right["dx"]
    if dx.shape != wanted.shape:
        return None
    both = (dx != 0) & (wanted != 0)
    has_too_many, has_too_few = ((dx != 0) & (wanted == 0)).any(), ((dx == 0) & (wanted != 0)).any()
    is_fresh = both.any() and np.allclose(dx[both], wanted[both]) and has_too_many and has_too_few
    return FRESH if is_fresh else None


def _scaled(mask: Array | None, dy: Array, kept: float, dropped: float = 0.0) -> Array:
    return dy if mask is None else dy * np.where(mask, kept, dropped)


@WRONG(FRESH.says, FRESH.because)
def drawn_again(self: Dropout, dy: Array, tape: Tape) -> Array:
    tape.take(self)
    return self.apply(dy, self.draw(dy.shape, tape.rng))


@WRONG(
    "The factor 1/(1 − p) is missing: dx is dy · mask.",
    "forward multiplied what it kept by 1/(1 − p). By the chain rule the gradient is multiplied by it, too.",
)
def not_scaled(self: Dropout, dy: Array, tape: Tape) -> Array:
    return _scaled(tape.take(self)[2], dy, 1.0)


@WRONG(
    "dx is scaled by 1/p, but p is the probability to drop: the factor is 1/(1 − p).",
    "Of all numbers the share 1 − p is kept, so those are enlarged by 1/(1 − p). With p = 0.5 both are 2, and nobody "
    "notices.",
)
def backward_scaled_by_one_over_p(self: Dropout, dy: Array, tape: Tape) -> Array:
    return _scaled(tape.take(self)[2], dy, 1 / self.p)


@WRONG(
    "dx is multiplied by 1 − p, where forward divided by it.",
    "Backward does not undo the scale, it repeats it: y is x / (1 − p), so a step in x is a step 1/(1 − p) times as "
    "large in y.",
)
def scaled_the_other_way(self: Dropout, dy: Array, tape: Tape) -> Array:
    return _scaled(tape.take(self)[2], dy, 1 - self.p)


@WRONG(
    "dx is scaled twice, by 1/(1 − p)².",
    "self.apply multiplies by 1/(1 − p) already; once is enough.",
)
def scaled_twice(self: Dropout, dy: Array, tape: Tape) -> Array:
    return _scaled(tape.take(self)[2], dy, (1 - self.p) ** -2)


@WRONG(
    "dx is dy: what was dropped gets a gradient, as if nothing had happened.",
    "A number that was set to 0 had no say in the loss, so its gradient is 0; one that was kept was multiplied by "
    "1/(1 − p).",
)
def handed_on(self: Dropout, dy: Array, tape: Tape) -> Array:
    tape.take(self)
    return dy


@WRONG(
    "The mask is missing: dx is dy / (1 − p) everywhere.",
    "A number that was set to 0 had no say in the loss, so its gradient is 0: multiply by the mask.",
)
def mask_forgotten(self: Dropout, dy: Array, tape: Tape) -> Array:
    return _scaled(tape.take(self)[2], dy, 1 / (1 - self.p), 1 / (1 - self.p))


@WRONG(
    "The mask is the wrong way round: what was dropped gets the gradient, and what was kept gets 0.",
    "mask is True where x was kept: dx = dy * mask / (1 − p).",
)
def mask_inverted(self: Dropout, dy: Array, tape: Tape) -> Array:
    return _scaled(tape.take(self)[2], dy, 0.0, 1 / (1 - self.p))


@WRONG(
    "In evaluation, where the mask is None and y is x, dx should be dy; yours is scaled by 1/(1 − p).",
    "The scale makes up for what is dropped. Where nothing is dropped, nothing is scaled.",
)
def scaled_in_evaluation(self: Dropout, dy: Array, tape: Tape) -> Array:
    _, _, mask = tape.take(self)
    return dy / (1 - self.p) if mask is None else self.apply(dy, mask)


@WRONG(
    "dx holds the numbers that were kept and no others: dy[mask] takes them out of their rows.",
    "dx has the shape of x, and 0 where x was dropped: multiply by the mask, dy * mask, where True counts as 1.",
)
def kept_alone(self: Dropout, dy: Array, tape: Tape) -> Array:
    mask = tape.take(self)[2]
    return dy if mask is None else dy[mask] / (1 - self.p)


@WRONG(
    "dx holds the numbers that were kept and no others, and they lack their factor 1/(1 − p).",
    "dx has the shape of x, and 0 where x was dropped: multiply by the mask, dy * mask, where True counts as 1. And "
    "what was kept was multiplied by 1/(1 − p).",
)
def kept_alone_unscaled(self: Dropout, dy: Array, tape: Tape) -> Array:
    mask = tape.take(self)[2]
    return dy if mask is None else dy[mask]


@WRONG(
    "What was dropped has a gradient: dx is dy there, and should be 0.",
    "A number that was set to 0 had no say in the loss. The others are right: dy / (1 − p).",
)
def dropped_handed_on(self: Dropout, dy: Array, tape: Tape) -> Array:
    return _scaled(tape.take(self)[2], dy, 1 / (1 - self.p), 1.0)


@WRONG(
    "dx is divided by mask.mean(), the share that was kept in this draw; forward divided by 1 − p.",
    "The two are near, and not the same: 1 − p is the share that is kept on average, and does not depend on the draw.",
)
def divided_by_the_share(self: Dropout, dy: Array, tape: Tape) -> Array:
    mask = tape.take(self)[2]
    return dy if mask is None else _scaled(mask, dy, 1 / mask.mean())


@WRONG(
    "What was kept has dy, and what was dropped (1 − p) · dy: they should have dy / (1 − p), and 0.",
    "A number that was kept was multiplied by 1/(1 − p), and so is its gradient. One that was dropped had no say.",
)
def dropped_scaled(self: Dropout, dy: Array, tape: Tape) -> Array:
    return _scaled(tape.take(self)[2], dy, 1.0, 1 - self.p)


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
    parts=(layer_part(SETTING, WRONG, recognise=fresh_mask, advise=advise),),
    source=lambda: exercise_file(8, "dropout", chapter(7), TEXT, [class_source(Dropout, BLANK)]),
    blanks=("Dropout.backward",),
)
