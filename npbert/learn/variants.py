"""Variants: what an exercise asks once more, some days later, in another form; so that it is found again, not recalled.

To be asked again after a while is what makes one remember. (Roediger & Karpicke 2006, "Test-Enhanced Learning".)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers import Elementwise
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import EXERCISES
from npbert.learn.layers import layer_part
from npbert.learn.source import Blank, class_source, exercise_file


class LinearOfColumns(Layer):
    """y = x Wᵀ: as PyTorch stores the weight, a row of W for each number of y.   x (N, I)   W (O, I)   y (N, O)"""

    def __init__(self, in_features: int, out_features: int, init: Init) -> None:
        self.weight = init.normal(out_features, in_features)

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        tape.keep(self, x)
        return x @ self.weight.value.T

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dW = dyᵀ x,  dx = dy W: with the weight the other way round, so are the products."""
        x = tape.take(self)
        if dy.shape != (len(x), len(self.weight.value)):
            raise ValueError(f"dy is {dy.shape}")
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
        tape.keep(self, p)
        return p

    def backward(self, dp: Array, tape: Tape) -> Array:
        """dx = p · (dp − Σ dp p), the sum down the column that x moves."""
        p = tape.take(self)
        if dp.shape != p.shape:
            raise ValueError(f"dp is {dp.shape}")
        return p * (dp - (dp * p).sum(axis=0))


class SummedCrossEntropy(Layer):
    """loss = −Σₙ log p[label] with p = softmax(logits): a sum over the rows.   logits (N, C)   labels (N,)"""

    def forward(self, logits: Array, labels: Array, tape: Tape = NO_TAPE) -> Any:
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        tape.keep(self, p, labels)
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
        tape.keep(self, first, second)
        return self.weight.value[first] + self.weight.value[second]

    def backward(self, dy: Array, tape: Tape) -> None:
        """dW[v] = Σ dyₙ over all n, once for each time that row v was read."""
        first, second = tape.take(self)
        if dy.shape != (len(first), self.weight.value.shape[1]):
            raise ValueError(f"dy is {dy.shape}")
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
        tape.keep(self, x_hat, r)
        return self.gamma.value * x_hat

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx = (dx̂ − x̂ · mean(dx̂ · x̂)) / r with dx̂ = γ dy: two roads, directly and through r."""
        x_hat, r = tape.take(self)
        if dy.shape != x_hat.shape:
            raise ValueError(f"dy is {dy.shape}")
        self.gamma.add_grad((dy * x_hat).sum(axis=0))
        dx_hat = self.gamma.value * dy
        return (dx_hat - x_hat * (dx_hat * x_hat).mean(axis=-1, keepdims=True)) / r


class _Variant(NamedTuple):
    layer_class: type[Any]
    title: str
    text: str
    settings: tuple[Setting, ...]
    given: int = 2  # statements of the blank that stay
    method: str = "backward"


def _rows(layer_class: type[Any], make: Any, *sizes: tuple[int, int]) -> tuple[Setting, ...]:
    """Settings with an x of each of these sizes. make(cls, init, D) -> the layer"""

    def setting(rows: int, features: int) -> Setting:
        return Setting(
            layer_class,
            lambda cls, init: make(cls, init, features),
            lambda rng: (rng.standard_normal((rows, features)),),
        )

    return tuple(setting(*size) for size in sizes)


def _words(count: int, features: int, n: int) -> Setting:
    draw = np.random.default_rng(n)
    first, second = draw.integers(0, count, (2, n))
    return Setting(SumOfTwoWords, lambda cls, init: cls(count, features, init), lambda rng: (first, second))


def _labelled(n: int, classes: int) -> Setting:
    labels = np.random.default_rng(n).integers(0, classes, n)
    return Setting(SummedCrossEntropy, lambda cls, init: cls(), lambda rng: (rng.standard_normal((n, classes)), labels))


_OF: dict[int, _Variant] = {
    2: _Variant(
        LinearOfColumns,
        "Linear, as PyTorch stores it",
        "The same sums as in exercise 2, with the weight the other way round. Which index is summed over in each?",
        _rows(LinearOfColumns, lambda cls, init, d: cls(d, 3, init), (7, 5), (4, 11)),
    ),
    3: _Variant(
        SiLU,
        "SiLU",
        "GELU's sister, with a sigmoid in the place of Φ. x stands in it twice, and s′ = s (1 − s).",
        _rows(SiLU, lambda cls, init, d: cls(), (7, 5), (4, 11)),
        1,
        "value_and_slope",
    ),
    4: _Variant(
        SoftmaxOfColumns,
        "softmax of columns",
        "Softmax down the columns. Which p does an x move, and so over which axis is the sum?",
        _rows(SoftmaxOfColumns, lambda cls, init, d: cls(), (7, 5), (4, 11)),
    ),
    5: _Variant(
        SummedCrossEntropy,
        "cross-entropy, summed",
        "The loss as a sum over the rows, where it was a mean. What becomes of the gradient?",
        (_labelled(7, 5), _labelled(4, 11)),
        1,
    ),
    6: _Variant(
        SumOfTwoWords,
        "the sum of two words",
        "Each row of y is the sum of two rows of the table, which may be the same one. What does each row collect?",
        (_words(11, 3, 7), _words(5, 4, 13)),
    ),
    7: _Variant(
        RMSNorm,
        "RMSNorm",
        "LayerNorm without the mean: how many roads lead from an x to the y of its row, and what does each bring back?",
        _rows(RMSNorm, lambda cls, init, d: cls(d, init, eps=1e-2), (7, 5), (4, 11)),
    ),
}


def _exercise(number: int, variant: _Variant) -> Exercise:
    of, name = EXERCISES[number], variant.layer_class.__name__
    blank = Blank(variant.method, "What is asked for says the class above.", variant.given)
    return Exercise(
        number=100 + number,
        slug=f"{of.slug}_again",
        title=variant.title,
        chapter=of.chapter,
        hints=of.hints,
        parts=(layer_part(*variant.settings, method=variant.method, reasons={}),),
        source=lambda: exercise_file(
            100 + number, variant.title, of.chapter, variant.text, [class_source(variant.layer_class, blank)]
        ),
        blanks=(f"{name}.{variant.method}",),
    )


VARIANTS = {100 + number: _exercise(number, variant) for number, variant in _OF.items()}
"""By number: that of the exercise, and a hundred more."""

ALL = {**EXERCISES, **VARIANTS}
"""The exercises and the variants, by number."""
