"""Exercise 13: a batch in parts, and gradients that are clipped."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Init, Parameter, Tape
from npbert.gradcheck.explain import in_manner
from npbert.layers import Linear, SoftmaxCrossEntropy
from npbert.learn.exercise import CHAPTERS, Exercise, Numbers, Part, returned
from npbert.optim import clip_by_global_norm

TEXT = """
A batch that does not fit into memory is cut into pieces. Each piece runs forward and backward separately, and the
gradients add up. At the end they must be the gradients of the whole batch. Its loss is the mean over all of its
targets; the loss of a piece is the mean over its own. The pieces have different numbers of targets, and labels of −100
(IGNORED) are not targets.

Then the gradients may be too large for a good step. Take all of them as one long vector. If it is longer than max_norm,
make it shorter and keep its direction.
"""
ASKED_TO_ACCUMULATE = """
Add the gradient of the mean loss over all targets of all pieces to the layer's; return that mean.

pieces: each has an x (n, I), and labels (n,) with at least one target. For one piece:

    tape = Tape()
    its_mean = loss(layer(x, tape), labels, tape)
    layer.backward(loss.backward(1.0, tape), tape)

where 1.0 is dloss, the weight of this piece's loss in the whole. Run one piece at a time: together they do not fit
into memory.
"""
ASKED_TO_CLIP = """
Scale all gradients by one factor, so that their joint norm is at most max_norm; return the norm before.

The joint norm is the length of all gradients in one row: √(Σ grad²), summed over all numbers of all parameters.
Change each parameter.grad in place, as in parameter.grad[...] *= factor. If the norm is not above max_norm, change
nothing. parameters is a list; a parameter that is in it twice counts once.
"""
HINTS = """
The mean of the pieces' means is not the mean of all targets, unless all pieces have the same number of targets. A piece
with n of N targets has the weight n/N. The norm of several gradients is the length of one vector with all their
numbers.

Count the targets first: n = (labels != IGNORED).sum() for each piece, N for all. Then dloss = n / N for that piece.
Return the sum of n / N · its_mean.

For clipping: parameters = list(dict.fromkeys(parameters)); norm = √(Σ (p.grad**2).sum()); if norm > max_norm:
p.grad[...] *= max_norm / norm, for each p; return norm.
"""
CLIP_PLAIN = """
def clip_by_global_norm(parameters, max_norm):
    parameters = list(dict.fromkeys(parameters))
    squares = 0.0
    for p in parameters:
        squares += (p.grad**2).sum()
    norm = math.sqrt(squares)
    if norm > max_norm:
        factor = max_norm / norm
        for p in parameters:
            p.grad[...] *= factor
    return norm
"""
WEIGHT, BIAS, MEAN = "the gradient of weight", "the gradient of bias", "the returned mean"
ROWS, KEPT = "the most rows at once", "the values of the layer"
SHARE = """
The loss of the batch is the mean over all of its targets, and the loss of a piece the mean over its own. So a piece has
the weight n/N, its share of the targets. Labels that are IGNORED are not targets.
""".strip().replace("\n", " ")
REASONS = {
    f"{BIAS}, {WEIGHT}": f"{SHARE} dloss is the weight of a piece. The gradients of the pieces add to the "
    "existing gradient.",
    MEAN: f"{SHARE} This also holds for the returned mean.",
    ROWS: "The whole batch does not fit into memory. Run each piece forward and backward "
    "separately; its weight is n / N.",
    KEPT: "Only the gradients of the layer change: no step is taken here.",
    f"{BIAS}, {WEIGHT}, {MEAN}": f"{SHARE} This holds for the gradients, which add up, and for the returned mean.",
}
CLIPPED, VALUES, RETURNED = "the gradients afterwards", "the values afterwards", "the result"
SHORT = "short gradients afterwards"
IF = "With `if norm > max_norm:` before the factor, short gradients are not divided or changed. All of them may be 0."
CLIP_REASONS = {
    SHORT: IF,
    CLIPPED: "All gradients are one long vector, which keeps its direction. All their numbers, of each "
    "parameter once, get one factor, so that its length is max_norm. If it is not above max_norm, nothing changes.",
    RETURNED: "The joint norm is the length of all gradients in one vector, before scaling, each parameter once.",
    f"{CLIPPED}, {RETURNED}": "The joint norm is the length of all gradients in one vector, each parameter once. All "
    "else depends on it.",
}
CLIP_ADVICE = {"ZeroDivisionError": IF}


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


ACCUMULATE = Part(
    right=accumulate,
    asked=ASKED_TO_ACCUMULATE,
    run=accumulated,
    plain=inspect.getsource(accumulate),
    reasons=REASONS,
)
CLIP = Part(
    right=clip_by_global_norm,
    asked=ASKED_TO_CLIP,
    run=clipped,
    plain=CLIP_PLAIN,
    reasons=CLIP_REASONS,
    advice=CLIP_ADVICE,
    tolerance=1e-5,
)
TITLE, USES = "accumulating and clipping gradients", ("IGNORED", "Tape", "math")
EXERCISE = Exercise(TITLE, CHAPTERS[8], TEXT, HINTS, (ACCUMULATE, CLIP), uses=USES)
