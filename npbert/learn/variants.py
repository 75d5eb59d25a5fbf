"""Variants: what an exercise asks once more, some days later, in another form; so that it is found again, not recalled.

To be asked again after a while is what makes one remember. (Roediger & Karpicke 2006, "Test-Enhanced Learning".)
"""

from dataclasses import replace
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers import Elementwise
from npbert.layers.checks import check_like
from npbert.learn.exercise import Exercise, Part
from npbert.learn.exercises import EXERCISES
from npbert.learn.layer import layer_part, normal, sample


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


class SiLU(Elementwise):
    """y = x s(x) with the sigmoid s(x) = 1 / (1 + e^(−x)).   x, y (N, D)"""

    def value_and_slope(self, x: Array) -> tuple[Array, Array]:
        s = 1 / (1 + np.exp(-x))
        return x * s, s + x * s * (1 - s)


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


class SummedCrossEntropy(Layer):
    """loss = −Σₙ log p[label] with p = softmax(logits): a sum over the rows.   logits (N, C)   labels (N,)"""

    def forward(self, logits: Array, labels: Array, tape: Tape = NO_TAPE) -> Any:
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        tape.keep(self, p=p, labels=labels)
        return -np.log(p[np.arange(len(labels)), labels]).sum()

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dlogits = dloss · (p − onehot(label)): no division, as there is no mean."""
        p, labels = tape.take(self)
        dlogits = p.copy()
        dlogits[np.arange(len(labels)), labels] -= 1
        return dlogits * dloss


class SumOfTwoWords(Layer):
    """y = W[first] + W[second]: two rows of one table.   first, second (N,) integers   W (V, D)   y (N, D)"""

    def __init__(self, num_embeddings: int, features: int, init: Init) -> None:
        self.weight = init.normal(num_embeddings, features)

    def forward(self, first: Array, second: Array, tape: Tape = NO_TAPE) -> Array:
        tape.keep(self, first=first, second=second)
        return self.weight.value[first] + self.weight.value[second]

    def backward(self, dy: Array, tape: Tape) -> None:
        """dW[v] = Σ dyₙ over all n, once for each time that row v was read."""
        first, second = tape.take(self)
        check_like(self, dy, (len(first), self.weight.value.shape[1]), self.weight.value.dtype)
        dw = np.zeros_like(self.weight.value)
        np.add.at(dw, first, dy)
        np.add.at(dw, second, dy)
        self.weight.add_grad(dw)


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


def summed(rows: int, classes: int) -> Setting:
    """The loss of so many rows."""
    return sample(
        SummedCrossEntropy, lambda rng: (rng.standard_normal((rows, classes)), rng.integers(0, classes, rows))
    )


def two_words(rows: int, words: int, features: int) -> Setting:
    """Two rows of a table of so many words, for each of so many rows."""
    return sample(SumOfTwoWords, lambda rng: tuple(rng.integers(0, words, (2, rows))), words, features)


def _variant(number: int, title: str, text: str, part: Part) -> Exercise:
    """The part, asked in place of that of an exercise."""
    exercise = EXERCISES[number]
    return replace(exercise, number=100 + number, slug=f"{exercise.slug}_again", title=title, text=text, parts=(part,))


ASKED = "What is asked for says the class above."


_ALL = (
    _variant(
        2,
        "Linear, as PyTorch stores it",
        "The same sums as in exercise 2, with the weight the other way round. Which index is summed over in each?",
        layer_part(
            sample(LinearOfColumns, normal(7, 5), 5, 3), sample(LinearOfColumns, normal(4, 11), 11, 3), asked=ASKED
        ),
    ),
    _variant(
        3,
        "SiLU",
        "GELU's sister, with a sigmoid in the place of Φ. x stands in it twice, and s′ = s (1 − s).",
        layer_part(
            sample(SiLU, normal(7, 5)), sample(SiLU, normal(4, 11)), method="value_and_slope", given=1, asked=ASKED
        ),
    ),
    _variant(
        4,
        "softmax of columns",
        "Softmax down the columns. Which p does an x move, and so over which axis is the sum?",
        layer_part(sample(SoftmaxOfColumns, normal(7, 5)), sample(SoftmaxOfColumns, normal(4, 11)), asked=ASKED),
    ),
    _variant(
        5,
        "cross-entropy, summed",
        "The loss as a sum over the rows, where it was a mean. What becomes of the gradient?",
        layer_part(summed(7, 5), summed(4, 11), asked=ASKED),
    ),
    _variant(
        6,
        "the sum of two words",
        "Each row of y is the sum of two rows of the table, which may be the same one. What does each row collect?",
        layer_part(two_words(7, 11, 3), two_words(13, 5, 4), asked=ASKED),
    ),
    _variant(
        7,
        "RMSNorm",
        "LayerNorm without the mean: how many roads lead from an x to the y of its row, and what does each bring back?",
        layer_part(
            sample(RMSNorm, normal(7, 5), 5, eps=1e-2), sample(RMSNorm, normal(4, 11), 11, eps=1e-2), asked=ASKED
        ),
    ),
)

VARIANTS = {variant.number: variant for variant in _ALL}
"""By number: that of the exercise, and a hundred more."""

ALL = {**EXERCISES, **VARIANTS}
"""The exercises and the variants, by number."""
