"""Variants: exercises in another form, to repeat days later.

Repeated tests help to remember. (Roediger & Karpicke 2006, "Test-Enhanced Learning".)
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
        """dW = dyᵀ x,  dx = dy W: the products of Linear with the transposed weight."""
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
    """y = γ x̂ with x̂ = x / r, r = √(mean(x²) + eps): without the mean.   x, y (N, D)   gamma γ (D,)"""

    def __init__(self, features: int, init: Init, *, eps: float) -> None:
        self.gamma, self.eps = init.ones(features), eps

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        r = np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.eps)
        x_hat = x / r
        tape.keep(self, x_hat=x_hat, r=r)
        return self.gamma.value * x_hat

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx = (dx̂ − x̂ · mean(dx̂ · x̂)) / r with dx̂ = γ dy: two paths, directly and through r."""
        x_hat, r = tape.take(self)
        check_like(self, dy, x_hat.shape, x_hat.dtype)
        self.gamma.add_grad((dy * x_hat).sum(axis=0))
        dx_hat = self.gamma.value * dy
        return (dx_hat - x_hat * (dx_hat * x_hat).mean(axis=-1, keepdims=True)) / r


OF_SQUARES = """
A number moves only its own square. How fast does a square grow, and what is its share in the mean?

The slope of (prediction − target)² is 2 (prediction − target), and the mean divides by how many numbers there are.

dprediction = dloss · 2 · difference / difference.size. The target has no gradient.
"""


def _variant(number: int, title: str, text: str, *settings: Setting, hints: str = "", **data: Any) -> Exercise:
    """Return the variant of an exercise with this layer, with new hints or those of the exercise."""
    exercise, part = EXERCISES[number], layer_part(*settings, asked="For the task, see the class above.", **data)
    asked = replace(exercise, title=title, text=text, hints=hints or exercise.hints, parts=(part,))
    return replace(asked, number=100 + number, slug=f"{exercise.slug}_again")


def drawn(*shape: int, read: Sequence[int] = ()) -> Inputs:
    """Return a function for an array of random numbers, and the rows to read; or for two arrays."""
    return lambda rng: (rng.standard_normal(shape), np.array(read) if read else rng.standard_normal(shape))


_ALL = (
    _variant(
        2,
        "Linear, as PyTorch stores it",
        "The same sums as in exercise 2, with the weight transposed. Which index does each sum run over?",
        sample(LinearOfColumns, normal(7, 5), 5, 3),
        sample(LinearOfColumns, normal(4, 11), 11, 3),
    ),
    _variant(
        3,
        "SiLU",
        "Like GELU, with a sigmoid instead of Φ. x appears twice, and σ′ = σ (1 − σ).",
        sample(SiLU, normal(7, 5)),
        sample(SiLU, normal(4, 11)),
        method="value_and_slope",
        given=1,
    ),
    _variant(
        4,
        "softmax of columns",
        "Softmax down the columns. Which p does an x move, and which axis does the sum run over?",
        sample(SoftmaxOfColumns, normal(7, 5)),
        sample(SoftmaxOfColumns, normal(4, 11)),
    ),
    _variant(
        5,
        "a mean of squares",
        "Another loss that is a mean, now over all numbers. What is the gradient of each, and where does dloss enter?",
        sample(MeanSquaredError, drawn(7, 5)),
        sample(MeanSquaredError, drawn(4, 11)),
        hints=OF_SQUARES,
    ),
    _variant(
        6,
        "some rows of x",
        "Rows of x are read by their index, some of them twice. What is the gradient of a row that is read, "
        "and of the others?",
        sample(Gather, drawn(7, 3, read=(5, 0, 5, 2, 6))),
        sample(Gather, drawn(11, 4, read=(3, 10, 3, 3, 0, 8, 1))),
    ),
    _variant(
        7,
        "RMSNorm",
        "LayerNorm without the mean: how many paths lead from an x to the y of its row, and what is the "
        "gradient of each?",
        sample(RMSNorm, normal(7, 5), 5, eps=1e-2),
        sample(RMSNorm, normal(4, 11), 11, eps=1e-2),
    ),
)

VARIANTS = {variant.number: variant for variant in _ALL}
"""The variants by number: 100 more than the exercise's."""

ALL = {**EXERCISES, **VARIANTS}
"""The exercises and the variants, by number."""
