"""Variants: exercises in another form, to repeat days later.

Repeated tests help to remember. (Roediger & Karpicke 2006, "Test-Enhanced Learning".)
"""

from collections.abc import Sequence

import numpy as np

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


def drawn(*shape: int, read: Sequence[int] = ()) -> Inputs:
    """Return a function for an array of random numbers, and the rows to read; or for two arrays."""
    return lambda rng: (rng.standard_normal(shape), np.array(read) if read else rng.standard_normal(shape))


_PARTS = {
    2: layer_part(sample(LinearOfColumns, normal(7, 5), 5, 3), sample(LinearOfColumns, normal(4, 11), 11, 3)),
    3: layer_part(sample(SiLU, normal(7, 5)), sample(SiLU, normal(4, 11)), method="value_and_slope", given=1),
    4: layer_part(sample(SoftmaxOfColumns, normal(7, 5)), sample(SoftmaxOfColumns, normal(4, 11))),
    5: layer_part(sample(MeanSquaredError, drawn(7, 5)), sample(MeanSquaredError, drawn(4, 11))),
    6: layer_part(
        sample(Gather, drawn(7, 3, read=(5, 0, 5, 2, 6))), sample(Gather, drawn(11, 4, read=(3, 10, 3, 3, 0, 8, 1)))
    ),
    7: layer_part(sample(RMSNorm, normal(7, 5), 5, eps=1e-2), sample(RMSNorm, normal(4, 11), 11, eps=1e-2)),
}

VARIANTS = {100 + n: Exercise.of(f"{EXERCISES[n].slug}_again", 100 + n, part) for n, part in _PARTS.items()}
"""The variants by number: 100 more than the exercise's."""

ALL = {**EXERCISES, **VARIANTS}
"""The exercises and the variants, by number."""
