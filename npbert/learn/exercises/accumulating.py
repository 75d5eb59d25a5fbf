"""Exercise 13, part one: a batch in parts, and what goes wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, Init, Tape
from npbert.layers import Linear, SoftmaxCrossEntropy
from npbert.learn.exercise import Mistakes
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


MEANS = Mistakes(accumulate)


def _pieces(rng: np.random.Generator) -> list[Piece]:
    labels = [np.array([4, IGNORED, 0, 2, 1, 3, 4]), np.array([IGNORED, 1, IGNORED]), np.array([2, 3])]
    return [(rng.standard_normal((len(part), 3)), part) for part in labels]


def accumulated(thing: Any, seed: int) -> Numbers:
    rng = np.random.default_rng(seed)
    layer = Linear(3, 5, Init(rng, 1.0, np.float64))
    layer.bias.add_grad(np.ones(5))  # something is there already
    mean = thing(layer, SoftmaxCrossEntropy(), _pieces(rng))
    return {
        "the gradient of weight": layer.weight.grad,
        "the gradient of bias": layer.bias.grad,
        "the mean that is returned": np.asarray(np.nan if mean is None else mean, float),
    }


def _shared(
    layer: Linear,
    loss: SoftmaxCrossEntropy,
    pieces: Sequence[Piece],
    share: Callable[[int, list[Piece]], float],
    told: Callable[[int, list[Piece]], float] | None = None,
    before_each: Callable[[], None] = lambda: None,
) -> float:
    """Each piece counts share(number, pieces) in the gradient, and told(…), or the same, in what is returned."""
    pieces, mean = list(pieces), 0.0
    for number, (x, labels) in enumerate(pieces):
        before_each()
        tape = Tape()
        of_piece = float(loss.forward(layer.forward(x, tape), labels, tape))
        mean += (told or share)(number, pieces) * of_piece
        layer.backward(loss.backward(share(number, pieces), tape), tape)
    return mean


def _targets(number: int, pieces: list[Piece]) -> int:
    return int((pieces[number][1] != IGNORED).sum())


def _of_all(number: int, pieces: list[Piece]) -> float:
    return _targets(number, pieces) / sum(_targets(n, pieces) for n in range(len(pieces)))


@MEANS(
    "That is the mean of the pieces' means: every piece counts the same, however few targets it has.",
    "A target in a piece with few of them then counts more than one in a full piece, and the result depends on how the "
    "batch was cut. A piece with n of all N targets counts n/N.",
)
def mean_of_means(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, lambda number, pieces: 1 / len(pieces))


@MEANS(
    "The pieces are added up and not averaged: each of them counts as much as a whole batch.",
    "The loss of the batch is the mean over all of its targets. A piece with n of all N targets counts n/N.",
)
def sum_of_means(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, lambda number, pieces: 1.0)


@MEANS(
    "The pieces count by their rows, but they should count by their targets.",
    "Labels that are −100 are no targets: they have no say in the loss of their piece, nor in how much it counts. n is "
    "(labels != IGNORED).sum().",
)
def counted_by_rows(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, lambda number, pieces: len(pieces[number][1]) / sum(len(y) for _, y in pieces))


@MEANS(
    "It is the sum over all targets: the division by their number is missing.",
    "n · the mean of a piece is the sum over its targets. Divided by N, the number of all targets, these add up to "
    "the mean over all.",
)
def sum_over_targets(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, lambda number, pieces: float(_targets(number, pieces)))


@MEANS(
    "The gradient is right, but what is returned is the mean of the pieces' means.",
    "The loss counts in the same shares as the gradient: the sum of n/N · the mean of each piece.",
)
def returns_the_mean_of_means(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, _of_all, lambda number, pieces: 1 / len(pieces))


@MEANS(
    "The gradient is that of the last piece alone: it is cleared before each.",
    "zero_grad stands before the whole batch, once, and it is called by whoever takes the step. The gradients of the "
    "pieces add up.",
)
def cleared_before_each(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, _of_all, before_each=layer.zero_grad)


@MEANS(
    "The gradients that were there before are cleared.",
    "zero_grad is called by whoever takes the step. Here gradients are only added.",
)
def cleared_at_the_beginning(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    layer.zero_grad()
    return _shared(layer, loss, pieces, _of_all)
