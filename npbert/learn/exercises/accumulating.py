"""Exercise 13, part one: a batch in parts, and the numbers that it is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Init, Tape
from npbert.gradcheck import GradientError
from npbert.layers import Linear, SoftmaxCrossEntropy
from npbert.learn.attempt import Failure, attempt
from npbert.learn.exercise import Finding
from npbert.learn.numbers import Numbers

Piece = tuple[Array, Array]


def accumulate(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    """The mean loss over all targets of all pieces; its gradient is added, a piece with n of N targets counts n/N."""
    counts = [int((labels != IGNORED).sum()) for _, labels in pieces]
    mean = 0.0
    for (x, labels), count in zip(pieces, counts, strict=True):
        share, tape = count / sum(counts), Tape()
        mean += share * float(loss.forward(layer.forward(x, tape), labels, tape))
        layer.backward(loss.backward(share, tape), tape)
    return mean


WEIGHT, MEAN = "the gradient of weight", "the mean that is returned"


def pieces_of(rng: np.random.Generator) -> list[Piece]:
    labels = [np.array([4, IGNORED, 0, 2, 1, 3, 4]), np.array([IGNORED, 1, IGNORED]), np.array([2, 3])]
    return [(rng.standard_normal((len(part), 3)), part) for part in labels]


class Watched(Linear):
    """Remembers the most rows that it was given at once."""

    most_rows = 0

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        self.most_rows = max(self.most_rows, len(x))
        return super().forward(x, tape)


def accumulated(thing: Any, seed: int) -> Numbers:
    rng = np.random.default_rng(seed)
    layer = Watched(3, 5, Init(rng, 1.0, np.float64))
    layer.bias.add_grad(np.ones(5))  # something is there already
    values = layer.weight.value.copy(), layer.bias.value.copy()
    mean = thing(layer, SoftmaxCrossEntropy(), pieces_of(rng))
    if not all(np.array_equal(old, now.value) for old, now in zip(values, (layer.weight, layer.bias), strict=True)):
        raise GradientError("the values of the layer are changed, and only its gradients should: no step is taken here")
    return {
        WEIGHT: layer.weight.grad,
        "the gradient of bias": layer.bias.grad,
        **({} if mean is None else {MEAN: np.asarray(mean, float)}),
    }


def nothing_returned(given: Numbers, right: Numbers) -> Finding | None:
    """Whether the mean is missing."""
    missing = next((name for name in right if name not in given), None)
    return Finding("Nothing is returned.", f"Wanted {missing}: does it end with a `return`?") if missing else None


def prove_accumulating(thing: Any) -> Finding | None:
    """Whether each piece went forward by itself."""
    rng = np.random.default_rng(0)
    layer, pieces = Watched(3, 5, Init(rng, 1.0, np.float64)), pieces_of(rng)
    found = attempt(lambda: thing(layer, SoftmaxCrossEntropy(), pieces), thing.__code__.co_filename)
    most = max(len(x) for x, _ in pieces)
    if isinstance(found, Failure) or layer.most_rows <= most:
        return None
    return Finding(
        "The numbers are right, but the pieces are put together again, and the whole batch goes through the layer at "
        "once.",
        f"That needs the memory that was not there: the layer was given {layer.most_rows} rows at a time, where the "
        f"longest piece has {most}. Let each piece go forward and backward by itself; its share is n / N.",
    )
