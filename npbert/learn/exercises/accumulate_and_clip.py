"""Exercise 13: a batch in parts, and gradients that are clipped."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Init, Parameter, Tape
from npbert.gradcheck.explain import in_manner
from npbert.layers import Linear, SoftmaxCrossEntropy
from npbert.learn.blank import Blank, Numbers, in_one_row, returned
from npbert.optim import clip_by_global_norm

ROWS = (7, 3, 2), (2, 5, 4, 3)
"""The rows of the pieces, for each of two samples. Not each piece has the same share of targets."""


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


class Watched(Linear):
    """A layer that records the most rows in one call."""

    most_rows = 0

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        self.most_rows = max(self.most_rows, len(x))
        return super().forward(x, tape)


def accumulated(thing: Any, seed: int) -> Iterator[Numbers]:
    """Return the gradients, added to one of the bias, the result, and the most rows that ran at once."""
    rng, odd = np.random.default_rng(seed), seed % 2
    layer = Watched(3 + odd, 5 + odd, Init(rng, 1.0, np.float64))
    layer.bias.add_grad(np.ones(5 + odd))
    pieces = []
    for rows in ROWS[odd]:
        labels = rng.integers(5 + odd, size=rows)
        labels[::3] = IGNORED
        pieces.append((in_manner(rng.standard_normal((rows, 3 + odd)), seed // 2), labels))
    weight, bias = layer.parameters()
    mean = returned(thing(layer, SoftmaxCrossEntropy(), pieces), "the mean")
    yield {
        "the gradient of weight": weight.grad,
        "the gradient of bias": bias.grad,
        "the returned mean": mean,
        "the most rows at once": np.array(max(layer.most_rows, *ROWS[odd])),
    }


def clipped(thing: Any, seed: int) -> Iterator[Numbers]:
    """Return all gradients, values and norms after clipping gradients above max_norm, and others below it."""
    odd = seed % 2
    long, enough = 1.3 + odd, 99.0

    def clip(max_norm: float, scale: float = 1.0) -> tuple[Array, Array, Array]:
        """Return the result, the gradients and the values of three parameters with gradients of this scale."""
        rng = np.random.default_rng(seed)
        parameters = [Parameter(rng.standard_normal(shape)) for shape in ((3 + odd, 5), (7 + odd,), (2 + odd,))]
        for parameter in parameters:
            parameter.add_grad(in_manner(scale * rng.standard_normal(parameter.value.shape), seed // 2))
        norm = returned(thing([parameters[1], *parameters], max_norm), "the norm before")
        return norm, in_one_row(each.grad for each in parameters), in_one_row(each.value for each in parameters)

    norms, gradients, values = map(np.stack, zip(clip(long), clip(enough), strict=True))
    yield {"the result": norms}
    yield {"the gradient afterwards": gradients, "the value afterwards": values}
    nearly = 1.001 * float(np.linalg.norm(gradients[1]))
    yield {"a short gradient afterwards": np.stack([clip(long, 0.0)[1], clip(nearly)[1]])}


ACCUMULATE = Blank(right=accumulate, numbers=accumulated)
CLIP = Blank(right=clip_by_global_norm, numbers=clipped, tolerance=1e-5)
