"""Exercise 4: softmax."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import Tape
from npbert.layers import Softmax
from npbert.layers.softmax import softmax
from npbert.learn.attempt import Failure, attempt
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise, Finding, Mistakes
from npbert.learn.layers import layer_numbers, layer_part, prove_layer
from npbert.learn.source import Blank, class_source, exercise_file, function_source
from npbert.learn.terms import Terms

SETTING = Setting(Softmax, lambda cls, init: cls(), lambda rng: (rng.standard_normal((7, 5)),))
THREE_AXES = Setting(Softmax, lambda cls, init: cls(), lambda rng: (rng.standard_normal((3, 7, 5)),))
WRONG = Mistakes(Softmax, "backward")

TEXT = """
Softmax makes a probability distribution of each row of numbers. Unlike an activation it mixes the numbers of a row:
raising one x raises its own p and takes from all others, as they have to add up to 1. So each x moves every p of its
row, and its gradient is a sum over all of them:

    dxⱼ = Σₖ dpₖ ∂pₖ/∂xⱼ

Work out ∂pₖ/∂xⱼ from pₖ = e^(xₖ) / Σᵢ e^(xᵢ), once for k = j and once for k ≠ j, and put it into the sum.
"""
BLANK = Blank(
    "backward",
    """Return dx, of the shape of x. dp is ∂loss/∂p, and forward kept p.

    x, p, dp, dx (..., T): two axes or more. Each row along the last axis is a distribution of its own.
    """,
)
HINTS = (
    "By the quotient rule, ∂pₖ/∂xⱼ is pⱼ (1 − pⱼ) for k = j, and −pₖ pⱼ for k ≠ j. Both at once: pₖ (δₖⱼ − pⱼ), where "
    "δₖⱼ is 1 for k = j and else 0.",
    "Put it into the sum: dxⱼ = Σₖ dpₖ pₖ δₖⱼ − Σₖ dpₖ pₖ pⱼ. In the first sum one term is left. In the second, pⱼ "
    "does not depend on k and comes out of the sum.",
    "dx = p · (dp − s), where s = Σₖ dpₖ pₖ is one number for each row: (dp * p).sum(axis=-1, keepdims=True).",
)


@WRONG(
    "dx is p (1 − p) dp, which is the diagonal alone: how each x moves its own p.",
    "That would be the sigmoid, where every number is by itself. In softmax an x also lowers all other p of its row. "
    "These other terms, −pₖ pⱼ dpₖ for k ≠ j, are missing in the sum.",
)
def diagonal_alone(self: Softmax, dp: Array, tape: Tape) -> Array:
    p = tape.take(self)
    return p * (1 - p) * dp


@WRONG(
    "dx is p · dp: the sum Σₖ dpₖ pₖ was not subtracted.",
    "Raising an x takes from all other p of its row, so that they still add up to 1. That is what the second term, "
    "−pⱼ Σₖ dpₖ pₖ, says.",
)
def sum_forgotten(self: Softmax, dp: Array, tape: Tape) -> Array:
    return tape.take(self) * dp


@WRONG(
    "What is subtracted is the plain mean of dp, but it has to be the mean weighted by p, Σₖ dpₖ pₖ.",
    "A p that is large has a large say in what the row loses. The weights pₖ add up to 1, so no division is needed.",
)
def plain_mean(self: Softmax, dp: Array, tape: Tape) -> Array:
    return tape.take(self) * (dp - dp.mean(axis=-1, keepdims=True))


@WRONG(
    "What is subtracted is the plain sum of dp, but it has to be weighted by p: Σₖ dpₖ pₖ.",
    "How much an x takes from another pₖ is pₖ pⱼ, in proportion to both.",
)
def plain_sum(self: Softmax, dp: Array, tape: Tape) -> Array:
    return tape.take(self) * (dp - dp.sum(axis=-1, keepdims=True))


@WRONG(
    "What is subtracted is the mean of dp · p over the row, but it has to be their sum.",
    "The weights p add up to 1 already, so Σₖ dpₖ pₖ is a mean as it stands; np.mean divides it once more, by T.",
)
def mean_of_the_products(self: Softmax, dp: Array, tape: Tape) -> Array:
    p = tape.take(self)
    return p * (dp - (dp * p).mean(axis=-1, keepdims=True))


@WRONG(
    "The sum is taken down the columns (axis 0), over different rows.",
    "Each row is a distribution of its own, and knows nothing of the other rows. The sum runs along the last axis: "
    "axis=-1.",
)
def summed_over_the_rows(self: Softmax, dp: Array, tape: Tape) -> Array:
    p = tape.take(self)
    return p * (dp - (dp * p).sum(axis=0))


@WRONG(
    "The sum is taken over everything, but each row has a sum of its own.",
    "(dp * p).sum() is one number for all rows. Each row is a distribution of its own: .sum(axis=-1, keepdims=True).",
)
def summed_over_everything(self: Softmax, dp: Array, tape: Tape) -> Array:
    p = tape.take(self)
    return p * (dp - (dp * p).sum())


@WRONG(
    "The factor p in front is missing: dx is dp − Σₖ dpₖ pₖ.",
    "How fast anything in the row moves with xⱼ is in proportion to pⱼ: an x with a tiny p moves nearly nothing. So "
    "the whole bracket is multiplied by p.",
)
def factor_forgotten(self: Softmax, dp: Array, tape: Tape) -> Array:
    p = tape.take(self)
    return dp - (dp * p).sum(axis=-1, keepdims=True)


@WRONG(
    "The first p is missing: dx is dp − p · Σₖ dpₖ pₖ, and should be p · dp − p · Σₖ dpₖ pₖ.",
    "∂pₖ/∂xⱼ = pₖ (δₖⱼ − pⱼ): the term with δ has a p as well, so p is a factor of the whole bracket.",
)
def factor_of_the_sum_alone(self: Softmax, dp: Array, tape: Tape) -> Array:
    p = tape.take(self)
    return dp - p * (dp * p).sum(axis=-1, keepdims=True)


@WRONG(
    "dx has the wrong sign.",
    "Raising an x raises its own p. So where dp lies above the mean of its row, weighted by p, dx is positive: "
    "p · (dp − Σₖ dpₖ pₖ).",
)
def sign_turned(self: Softmax, dp: Array, tape: Tape) -> Array:
    p = tape.take(self)
    return p * ((dp * p).sum(axis=-1, keepdims=True) - dp)


@WRONG(
    "dx is divided by the number of rows.",
    "A mean over the batch belongs to the loss, and the loss has taken it: it is inside dp already.",
)
def averaged_over_the_leading_axis(self: Softmax, dp: Array, tape: Tape) -> Array:
    return Softmax.backward(self, dp, tape) / len(dp)


@WRONG(
    "The terms for k ≠ j have the wrong sign: they are −pₖ pⱼ dpₖ, and were added.",
    "Raising an x lowers all other p of its row: ∂pₖ/∂xⱼ = −pₖ pⱼ for k ≠ j, with a minus.",
)
def others_added(self: Softmax, dp: Array, tape: Tape) -> Array:
    p = tape.take(self)
    own = dp * p
    return own * (1 - p) + p * (own.sum(axis=-1, keepdims=True) - own)


@WRONG(
    "dx is p · dp − p² · Σₖ dpₖ, and should be p · dp − p · Σₖ dpₖ pₖ: inside the sum there is no p.",
    "For k ≠ j, ∂pₖ/∂xⱼ is −pₖ pⱼ: one p is that of k, and stays inside the sum; only pⱼ comes out of it.",
)
def p_squared_outside(self: Softmax, dp: Array, tape: Tape) -> Array:
    p = tape.take(self)
    return p * dp - p**2 * dp.sum(axis=-1, keepdims=True)


TWO_ALONE = Finding(
    "It is right for two axes alone: axis 1 is only the last one when there are two.",
    "Softmax takes (..., T), any number of axes; attention gives it four. Along the last axis is axis=-1. And a loop "
    "goes over all rows with `for place in np.ndindex(p.shape[:-1])`: then p[place] is a row.",
)


@WRONG(*TWO_ALONE)
def axis_one(self: Softmax, dp: Array, tape: Tape) -> Array:
    p = tape.take(self)
    return p * (dp - (dp * p).sum(axis=1, keepdims=True))


def prove(layer_class: type[Any]) -> Finding | None:
    """The gradient check; and whether it works for more than two axes."""
    broken = prove_layer(SETTING, layer_class)
    if broken is not None:
        return broken
    file = layer_class.backward.__code__.co_filename
    right = layer_numbers(THREE_AXES, Softmax, 0, {})["dx"]
    given = attempt(lambda: layer_numbers(THREE_AXES, layer_class, 0, {})["dx"], file)
    if isinstance(given, Failure):
        where = f"With three axes line {given.line} stops with {given.kind}: {given.message}."
        return Finding(TWO_ALONE.says, f"{where}\n\n{TWO_ALONE.because}")
    return None if np.allclose(given, right, rtol=1e-9, atol=1e-12) else TWO_ALONE


def _alone(dx: Callable[[Array, Array], Array]) -> type[Any]:
    """Softmax, with one term of dx alone."""

    def backward(self: Softmax, dp: Array, tape: Tape) -> Array:
        return dx(dp, tape.take(self))

    return type("Softmax", (Softmax,), {"backward": backward})


def _dot(dp: Array, p: Array) -> Array:
    return np.asarray((dp * p).sum(axis=-1, keepdims=True))


OWN, OTHERS = "the term with k = j", "what comes from all k ≠ j"
TERMS = Terms(
    {
        "the first term (p · dp)": _alone(lambda dp, p: p * dp),
        "the second term (−p · Σₖ dpₖ pₖ)": _alone(lambda dp, p: -p * _dot(dp, p)),
        OWN: _alone(lambda dp, p: p * (1 - p) * dp),
        OTHERS: _alone(lambda dp, p: -p * (_dot(dp, p) - dp * p)),
    },
    "Right is dx = p · dp − p · Σₖ dpₖ pₖ.",
    sizes={"T, the length of a row": 5, "N, the number of rows": 7},
    ways=(
        ("the first term (p · dp)", "the second term (−p · Σₖ dpₖ pₖ)"),
        (OWN, OTHERS),
    ),
    more=dict.fromkeys((OWN, OTHERS), "The second term has −pₖ pⱼ dpₖ of every k in it, and k = j is one of them."),
)

EXERCISE = Exercise(
    number=4,
    slug="softmax",
    title="softmax",
    chapter=chapter(4),
    hints=HINTS,
    parts=(replace(layer_part(SETTING, WRONG, roads=TERMS), prove=prove),),
    source=lambda: exercise_file(
        4, "softmax", chapter(4), TEXT, [class_source(Softmax, BLANK), function_source(softmax)]
    ),
    blanks=("Softmax.backward",),
)
