"""Variants: what an exercise asks once more, some days later, in another form; so that it is found again, not recalled.

To be asked again after a while is what makes one remember. (Roediger & Karpicke 2006, "Test-Enhanced Learning".)
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers import Gather, MeanSquaredError, SiLU
from npbert.layers.checks import check_like
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import EXERCISES
from npbert.learn.layer import Inputs, layer_part, normal, sample


class LinearOfColumns(Layer):
    """y = x Wᵀ: as PyTorch stores the weight, a row of W for each number of y.   x (N, I)   W (O, I)   y (N, O)"""

    def __init__(self, in_features: int, out_features: int, init: Init) -> None:
        self.weight = init.normal(out_features, in_features)

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        tape.keep(self, x=x)
        return x @ self.weight.value.T

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dW = dyᵀ x,  dx = dy W: with the weight the other way round, so are the products."""
        x = tape.take(self)
        check_like(self, dy, (len(x), len(self.weight.value)), x.dtype)
        self.weight.add_grad(dy.T @ x)
        return dy @ self.weight.value


class SoftmaxOfColumns(Layer):
    """pᵢ = e^(xᵢ) / Σₖ e^(xₖ) down each column: over the first axis.   x, p (N, D)"""

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        p = np.exp(x - x.max(axis=0))
        p = p / p.sum(axis=0)
        tape.keep(self, p=p)
        return p

    def backward(self, dp: Array, tape: Tape) -> Array:
        """dx = p · (dp − Σ dp p), the sum down the column that x moves."""
        p = tape.take(self)
        check_like(self, dp, p.shape, p.dtype, name="dp")
        return p * (dp - (dp * p).sum(axis=0))


class RMSNorm(Layer):
    """y = γ x̂ with x̂ = x / r, r = √(mean(x²) + eps): no mean is taken away.   x, y (N, D)   gamma γ (D,)"""

    def __init__(self, features: int, init: Init, *, eps: float) -> None:
        self.gamma, self.eps = init.ones(features), eps

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        r = np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.eps)
        x_hat = x / r
        tape.keep(self, x_hat=x_hat, r=r)
        return self.gamma.value * x_hat

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx = (dx̂ − x̂ · mean(dx̂ · x̂)) / r with dx̂ = γ dy: two roads, directly and through r."""
        x_hat, r = tape.take(self)
        check_like(self, dy, x_hat.shape, x_hat.dtype)
        self.gamma.add_grad((dy * x_hat).sum(axis=0))
        dx_hat = self.gamma.value * dy
        return (dx_hat - x_hat * (dx_hat * x_hat).mean(axis=-1, keepdims=True)) / r


OF_SQUARES = """
One number moves one square alone. How fast does a square grow, and what part of the mean is it?

The slope of (prediction − target)² is 2 (prediction − target), and the mean divides by how many numbers there are.

dprediction = dloss · 2 · difference / difference.size; the target is given, and has no gradient.
"""


def _variant(number: int, title: str, text: str, *settings: Setting, hints: str = "", **data: Any) -> Exercise:
    """The layer of these settings, asked in place of that of an exercise, with hints of its own or those of that."""
    exercise, part = EXERCISES[number], layer_part(*settings, asked="What is asked for says the class above.", **data)
    asked = replace(exercise, title=title, text=text, hints=hints or exercise.hints, parts=(part,))
    return replace(asked, number=100 + number, slug=f"{exercise.slug}_again")


def drawn(*shape: int, read: Sequence[int] = ()) -> Inputs:
    """An array of random numbers, and the rows to read; or two arrays."""
    return lambda rng: (rng.standard_normal(shape), np.array(read) if read else rng.standard_normal(shape))


_ALL = (
    _variant(
        2,
        "Linear, as PyTorch stores it",
        "The same sums as in exercise 2, with the weight the other way round. Which index is summed over in each?",
        sample(LinearOfColumns, normal(7, 5), 5, 3),
        sample(LinearOfColumns, normal(4, 11), 11, 3),
    ),
    _variant(
        3,
        "SiLU",
        "GELU's sister, with a sigmoid in the place of Φ. x stands in it twice, and σ′ = σ (1 − σ).",
        sample(SiLU, normal(7, 5)),
        sample(SiLU, normal(4, 11)),
        method="value_and_slope",
        given=1,
    ),
    _variant(
        4,
        "softmax of columns",
        "Softmax down the columns. Which p does an x move, and so over which axis is the sum?",
        sample(SoftmaxOfColumns, normal(7, 5)),
        sample(SoftmaxOfColumns, normal(4, 11)),
    ),
    _variant(
        5,
        "a mean of squares",
        "Another loss that is a mean, now over all numbers. What does each of them bring back, and what is dloss for?",
        sample(MeanSquaredError, drawn(7, 5)),
        sample(MeanSquaredError, drawn(4, 11)),
        hints=OF_SQUARES,
    ),
    _variant(
        6,
        "some rows of x",
        "Rows of x are read by their number, some of them twice. What comes back to each row, and what to the others?",
        sample(Gather, drawn(7, 3, read=(5, 0, 5, 2, 6))),
        sample(Gather, drawn(11, 4, read=(3, 10, 3, 3, 0, 8, 1))),
    ),
    _variant(
        7,
        "RMSNorm",
        "LayerNorm without the mean: how many roads lead from an x to the y of its row, and what does each bring back?",
        sample(RMSNorm, normal(7, 5), 5, eps=1e-2),
        sample(RMSNorm, normal(4, 11), 11, eps=1e-2),
    ),
)

VARIANTS = {variant.number: variant for variant in _ALL}
"""By number: that of the exercise, and a hundred more."""

ALL = {**EXERCISES, **VARIANTS}
"""The exercises and the variants, by number."""
