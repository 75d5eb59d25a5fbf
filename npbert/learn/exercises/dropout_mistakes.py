"""Exercise 8, dropout: the wrong answers that people give."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.layers import Dropout
from npbert.learn.exercise import Mistakes
from npbert.learn.exercises.dropout_told import FRESH

WRONG = Mistakes(Dropout, "backward")


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
    "dx is divided by the share that was kept in each row of this draw; forward divided by 1 − p.",
    "The two are near, and not the same: 1 − p is the share that is kept on average, and does not depend on the draw.",
)
def divided_by_the_share_of_each_row(self: Dropout, dy: Array, tape: Tape) -> Array:
    mask = tape.take(self)[2]
    return dy if mask is None else dy * mask / np.maximum(mask.mean(axis=-1, keepdims=True), 1 / mask.shape[-1])


@WRONG(
    "What was kept has dy, and what was dropped (1 − p) · dy: they should have dy / (1 − p), and 0.",
    "A number that was kept was multiplied by 1/(1 − p), and so is its gradient. One that was dropped had no say.",
)
def dropped_scaled(self: Dropout, dy: Array, tape: Tape) -> Array:
    return _scaled(tape.take(self)[2], dy, 1.0, 1 - self.p)
