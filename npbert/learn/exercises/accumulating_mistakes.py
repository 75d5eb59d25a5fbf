"""Exercise 13, part one: what goes wrong with the shares of the pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npbert.core import IGNORED, Tape
from npbert.layers import Linear, SoftmaxCrossEntropy
from npbert.learn.exercise import Mistakes
from npbert.learn.exercises.accumulating import Piece, accumulate

MEANS = Mistakes(accumulate)


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


def counted_as(share: Callable[[int, list[Piece]], float]) -> Callable[..., float]:
    """accumulate, where each piece counts share(number, pieces)."""
    return lambda layer, loss, pieces: _shared(layer, loss, pieces, share)


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
    "What is returned is the mean of the pieces' means.",
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


@MEANS(
    "Label 0 is not counted as a target, and it is one: a class like any other.",
    "Only −100 (IGNORED) is no target: n is (labels != IGNORED).sum().",
)
def label_0_not_counted(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    counts = [int((labels > 0).sum()) for _, labels in pieces]
    return _shared(layer, loss, pieces, lambda number, pieces: counts[number] / sum(counts))


@MEANS(
    "The ignored labels are counted, and the targets are not.",
    "n is (labels != IGNORED).sum(): the labels that are not −100.",
)
def ignored_counted(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    counts = [int((labels == IGNORED).sum()) for _, labels in pieces]
    return _shared(layer, loss, pieces, lambda number, pieces: counts[number] / sum(counts))


@MEANS(
    "The gradient is that of the sum of the pieces' means: dloss is 1 for each of them.",
    "dloss says how much the loss of a piece counts in the whole: loss.backward(n / N, tape).",
)
def gradient_of_the_sum(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, lambda number, pieces: 1.0, _of_all)


@MEANS(
    "The gradient is that of the sum over all targets: N times too large.",
    "dloss says how much the loss of a piece counts in the whole, n / N: the division by N is missing there.",
)
def gradient_not_divided(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, lambda number, pieces: float(_targets(number, pieces)), _of_all)


@MEANS(
    "What is returned is the sum of the pieces' means.",
    "The loss counts in the same shares as the gradient: the sum of n/N · the mean of each piece.",
)
def returns_the_sum_of_means(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, _of_all, lambda number, pieces: 1.0)


@MEANS(
    "In the gradient the pieces have each other's shares, the last that of the first.",
    "As if one tape was used for all: it gives back what was put on it last first. A tape of its own for each piece, "
    "and backward right after its forward.",
)
def shares_turned_around(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, lambda number, pieces: _of_all(len(pieces) - 1 - number, pieces), _of_all)


@MEANS(
    "The shares are upside down: N/n, and should be n/N.",
    "A piece with n of all N targets counts n/N: more, where it has more of them.",
)
def shares_upside_down(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, lambda number, pieces: 1 / _of_all(number, pieces))


@MEANS(
    "All is divided by the number of pieces once more.",
    "The shares n/N add up to 1 already: what is multiplied by them is a mean, and is not divided again.",
)
def divided_by_pieces_too(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[Piece]) -> float:
    return _shared(layer, loss, pieces, lambda number, pieces: _of_all(number, pieces) / len(pieces))
