"""Cross-entropy gone wrong, and what surrounds it: padding, and gradients of several micro-batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.data import Batch, Example, collate
from npbert.layers import Array, Cache, Linear, Softmax, SoftmaxCrossEntropy, rows

Pieces = Sequence[tuple[Array, Array]]


class DividedByBatch(SoftmaxCrossEntropy):
    """The gradient of the mean over sequences: T times too large when every token has a target."""

    def backward(self, dloss: Array | float, cache: Cache) -> Array:
        shape, kept, *_ = cache
        return super().backward(dloss * len(kept) / shape[0], cache)


class DividedByTokens(SoftmaxCrossEntropy):
    """The gradient of the mean over the tokens of each sequence: B times too large when every token has a target."""

    def backward(self, dloss: Array | float, cache: Cache) -> Array:
        shape, kept, *_ = cache
        return super().backward(dloss * len(kept) / shape[1], cache)


class DividedByAllPositions(SoftmaxCrossEntropy):
    """The gradient of the mean over all positions, where forward took it over the targets."""

    def backward(self, dloss: Array | float, cache: Cache) -> Array:
        shape, kept, *_ = cache
        return super().backward(dloss * len(kept) / (shape[0] * shape[1]), cache)


class PaddingIsCounted(SoftmaxCrossEntropy):
    """The mean is over all positions, forward and backward, so padding waters down the loss."""

    def forward(self, logits: Array, labels: Array) -> tuple[Any, Cache]:
        loss, cache = super().forward(logits, labels)
        share = len(cache[1]) / labels.size
        return loss * share, (share, cache)

    def backward(self, dloss: Array | float, cache: Cache) -> Array:
        share, cache = cache
        return super().backward(dloss * share, cache)


class IgnoredIsAnIndex(SoftmaxCrossEntropy):
    """−100 picks the probability of class C − 100, and no error says so. The derivative is right."""

    def forward(self, logits: Array, labels: Array) -> tuple[Any, Cache]:
        p = Softmax()(rows(logits))
        picked = np.arange(labels.size), labels.reshape(-1)
        return -np.log(p[picked]).mean(), (logits.shape, picked, p)

    def backward(self, dloss: Array | float, cache: Cache) -> Array:
        shape, picked, p = cache
        dlogits = p * (dloss / len(p))
        dlogits[picked] -= dloss / len(p)
        return dlogits.reshape(shape)


def collate_with_targets_on_padding(examples: Sequence[Example], *, pad_id: int, length: int | None = None) -> Batch:
    """The model is asked to predict [PAD] wherever there is padding."""
    batch = collate(examples, pad_id=pad_id, length=length)
    batch.labels = np.where(batch.attention_mask == 0, pad_id, batch.labels)
    return batch


def accumulate_by_targets(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Pieces) -> None:
    """The gradient of the mean over all targets: each piece weighs as much as it has targets."""
    counts = [np.count_nonzero(labels >= 0) for _, labels in pieces]
    for count, (x, labels) in zip(counts, pieces, strict=True):
        _accumulate(layer, loss, x, labels, dloss=count / sum(counts))


def accumulate_means_of_means(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Pieces) -> None:
    """Every piece weighs the same, however few targets it has."""
    for x, labels in pieces:
        _accumulate(layer, loss, x, labels, dloss=1 / len(pieces))


def _accumulate(layer: Linear, loss: SoftmaxCrossEntropy, x: Array, labels: Array, *, dloss: float) -> None:
    logits, linear_cache = layer.forward(x)
    _, loss_cache = loss.forward(logits, labels)
    layer.backward(loss.backward(dloss, loss_cache), linear_cache)
