"""Exercise 13: a batch in parts, and gradients that are clipped."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Init, Parameter, Tape
from npbert.gradcheck.explain import in_manner
from npbert.layers import Linear, SoftmaxCrossEntropy
from npbert.learn.exercise import Numbers, Part, returned
from npbert.optim import clip_by_global_norm

WEIGHT, BIAS, MEAN = "the gradient of weight", "the gradient of bias", "the returned mean"
ROWS, KEPT = "the most rows at once", "the values of the layer"
CLIPPED, VALUES, RETURNED = "the gradients afterwards", "the values afterwards", "the result"
SHORT = "short gradients afterwards"


def accumulate(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[tuple[Array, Array]]) -> float:
    """Return the mean loss over all targets of all pieces, and add its gradient; a piece with n of N targets counts
    n/N."""
    counts = [len(labels[labels != IGNORED]) for _, labels in pieces]
    total = sum(counts)
    mean = 0.0
    for (x, labels), count in zip(pieces, counts, strict=True):
        share = count / total
        tape = Tape()
        its_mean = loss(layer(x, tape), labels, tape)
        mean += share * its_mean
        layer.backward(loss.backward(share, tape), tape)
    return mean


LABELS = (
    ([4, IGNORED, 0, 2, 1, 3, 4], [IGNORED, 1, IGNORED], [2, 3]),
    ([IGNORED, 0], [2, IGNORED, IGNORED, 1, 0], [6, 1, 5, IGNORED], [3]),
)
"""The labels of the pieces, for each of two samples."""


class Watched(Linear):
    """A layer that records the most rows in one call."""

    most_rows = 0

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        self.most_rows = max(self.most_rows, len(x))
        return super().forward(x, tape)


def pieces_of(seed: int) -> tuple[Watched, list[tuple[Array, Array]]]:
    """Return a layer with a gradient in its bias, and pieces of a batch."""
    rng, features = np.random.default_rng(seed), 3 + seed % 2
    labels = [np.array(part) for part in LABELS[seed % 2]]
    layer = Watched(features, 5 + 2 * (seed % 2), Init(rng, 1.0, np.float64))
    layer.bias.add_grad(np.ones(layer.bias.value.shape))
    return layer, [(in_manner(rng.standard_normal((len(part), features)), seed), part) for part in labels]


def accumulated(thing: Any, seed: int) -> Iterator[Numbers]:
    """Return the gradients, the result, and the numbers that should not change."""
    layer, pieces = pieces_of(seed)
    weight, bias = layer.parameters()
    mean = returned(thing(layer, SoftmaxCrossEntropy(), pieces), "the mean")
    longest = max(len(x) for x, _ in pieces)
    yield {
        WEIGHT: weight.grad,
        BIAS: bias.grad,
        MEAN: mean,
        ROWS: np.array(max(longest, layer.most_rows)),
        KEPT: np.concatenate([weight.value.ravel(), bias.value]),
    }


SIZES = (((3, 5), (7,), (2,)), ((4, 2), (5, 3), (11,)))
LONG, ENOUGH = (1.3, 2.1), 99.0
"""A max_norm below the gradients' norm at both samples, and one above it."""


def parameters_of(seed: int, *sizes: float) -> list[Parameter]:
    """Return three parameters with gradients of these sizes."""
    rng = np.random.default_rng(seed)
    parameters = [Parameter(rng.standard_normal(shape)) for shape in SIZES[seed % 2]]
    for parameter, size in zip(parameters, sizes, strict=True):
        parameter.add_grad(in_manner(size * rng.standard_normal(parameter.value.shape), seed // 2))
    return parameters


def clipped(thing: Any, seed: int) -> Iterator[Numbers]:
    """Return all gradients, values and norms after clipping gradients above max_norm, and others below it."""

    def clip(max_norm: float, *sizes: float) -> tuple[Array, Array, Array]:
        parameters = parameters_of(seed, *sizes)
        norm = returned(thing([*parameters, parameters[1]], max_norm), "the norm before")
        gradients, values = ([getattr(part, name).ravel() for part in parameters] for name in ("grad", "value"))
        return norm, np.concatenate(gradients), np.concatenate(values)

    both = zip(clip(LONG[seed % 2], 1.0, 3.0, 1.7), clip(ENOUGH, 1.0, 3.0, 1.7), strict=True)
    norms, gradients, values = (np.stack(each) for each in both)
    yield {RETURNED: norms}
    yield {CLIPPED: gradients, VALUES: values}
    short = [parameter.grad.ravel() for parameter in parameters_of(seed, 1.0, 1.0, 1.0)]
    nearly = 1.001 * float(np.linalg.norm(np.concatenate(short)))
    yield {SHORT: np.concatenate([clip(LONG[0], 0, 0, 0)[1], clip(nearly, 1.0, 1.0, 1.0)[1]])}


ACCUMULATE = Part(right=accumulate, numbers=accumulated)
CLIP = Part(right=clip_by_global_norm, numbers=clipped, tolerance=1e-5)
