"""The layers of exercises 2 to 9, 16 and 17, each in two settings that differ in all sizes."""

from typing import Any

import numpy as np

from npbert.blocks import EncoderLayer, GatedFeedForward
from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import IGNORED, Sequences, Tape
from npbert.layers import GELU, Dropout, Embedding, LayerNorm, Linear, Rotary, Softmax, SoftmaxCrossEntropy
from npbert.learn.attempt import attempt
from npbert.learn.layer import another_dtype, layer_part, normal, permuted, sample
from npbert.learn.verdict import paragraphs


def with_zero(*shape: int) -> Setting:
    """Return the setting of a GELU, and an x of this shape with a 0 in it, where y / x is not Φ(x)."""

    def inputs(rng: np.random.Generator) -> tuple[Array]:
        x = 1.5 * rng.standard_normal(shape)
        x[0, 0] = 0
        return (x,)

    return sample(GELU, inputs)


def labelled(*labels: int, classes: int) -> Setting:
    """Return the setting of the loss with these labels, and logits of this number of classes."""
    return sample(SoftmaxCrossEntropy, lambda rng: (rng.standard_normal((len(labels), classes)), np.array(labels)))


LARGE = 1000.0
OVERFLOW = f"""
Note: for large scores, such as {LARGE:g}, your result is NaN, as e^score overflows (in float32 from 89 on). forward
first subtracts the largest score of each row. p = np.exp(scores - largest) / total does so, too, and is the same
number.
""".strip().replace("\n", " ")
SOME = labelled(IGNORED, 4, 0, 2, IGNORED, 4, 2, 3, IGNORED, 4, IGNORED, classes=5)
ALL = labelled(3, 0, 3, 2, 0, 3, 1, classes=4)  # if each row is a target, the kept scores are the caller's array


def overflows(layer_class: type[Any]) -> str:
    """Return remarks on a right answer that is NaN for large scores, and on its dtype."""
    layer, (logits, labels), _ = SOME.make(layer_class)

    def is_finite() -> bool:
        tape = Tape()
        layer(logits + LARGE, labels, tape=tape)
        return bool(np.isfinite(layer.backward(1.0, tape)).all())

    return paragraphs("" if attempt(is_finite) is True else OVERFLOW, another_dtype(SOME, layer_class))


def encoder(sizes: tuple[int, int, int], lengths: tuple[int, ...], dropout: float, attention_dropout: float) -> Setting:
    """Return the setting of an EncoderLayer with D features, H heads and feed-forward size F, for sequences of these
    lengths."""
    options = {"dropout": dropout, "attention_dropout": attention_dropout, "layer_norm_eps": 1e-2}
    shape = sum(lengths), sizes[0]
    return Setting(
        EncoderLayer,
        lambda cls, init: cls(*sizes, init, **options),
        lambda rng: (rng.standard_normal(shape), rng.standard_normal(shape), Sequences(np.array(lengths))),
    )


def rotary(features: int, heads: int, *positions: int) -> Setting:
    """A Rotary for heads of `features` features, and a row for each of the positions."""
    return Setting(
        Rotary,
        lambda cls, init: cls(features, 10.0, init.dtype),
        lambda rng: (rng.standard_normal((len(positions), heads * features)), np.array(positions)),
    )


LINEAR = layer_part(
    sample(Linear, normal(7, 5), 5, 3),
    sample(Linear, normal(4, 6), 6, 11),
    names={"weight": "dW", "bias": "db"},
)
SLOPE = layer_part(with_zero(7, 5), with_zero(4, 9), method="value_and_slope", returns={"y": 1, "slope": 1}, given=0)
SOFTMAX = layer_part(sample(Softmax, normal(7, 5)), sample(Softmax, normal(3, 4, 11)))
CROSS_ENTROPY = layer_part(SOME, ALL, remarks=overflows)
EMBEDDING = layer_part(
    sample(Embedding, permuted(5, 0, 5, 10, 2, 5, 0), 11, 3),  # includes the first and the last row
    sample(Embedding, permuted(6, 3, 6, 0, 3), 7, 4),
    names={"weight": "dW"},
)
LAYER_NORM = layer_part(
    sample(LayerNorm, normal(7, 5), 5, eps=1e-2),  # large enough to show if it is forgotten
    sample(LayerNorm, normal(4, 11), 11, eps=1e-1),
    names={"gamma": "dγ", "beta": "dβ"},
    without=("three_roads",),
)
DROPOUT = layer_part(sample(Dropout, normal(11, 7), 0.3), sample(Dropout, normal(5, 9), 0.2), drops=True)
ENCODER = layer_part(encoder((6, 2, 7), (3, 2), 0.3, 0.2), encoder((9, 3, 4), (2, 5, 1), 0.2, 0.35), drops=True)
ROTARY = layer_part(rotary(6, 2, 0, 1, 2, 5, 1), rotary(4, 3, 7, 0, 3, 1, 2, 3, 9))
GATE = layer_part(
    sample(GatedFeedForward, normal(6, 5), 5, 7, activation="gelu"),
    sample(GatedFeedForward, normal(9, 4), 4, 3, activation="silu"),
    given=2,
)
