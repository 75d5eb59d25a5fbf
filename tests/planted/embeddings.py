"""Embeddings and gathers gone wrong: what is read by id."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.layers import Array, BertEmbeddings, Embedding, Gather, MaskedLMHead, Parameter, Pooler, rows


class LastOfRepeatedIdsWins(Embedding):
    """NumPy reads, adds and writes once for each distinct id."""

    def backward(self, dy: Array, ids: Array) -> None:
        self.weight.grad[ids] += dy


class IdsNotChecked(Embedding):
    """Id −1 is the last row."""

    def forward(self, ids: Array) -> tuple[Array, Array]:
        return self.weight.value[ids], ids


class NeverLearned(Embedding):
    """Reads a table, and leaves it as it was drawn."""

    def __init__(self, table: Parameter) -> None:
        self.weight = table

    def backward(self, dy: Array, ids: Array) -> None:
        pass


class PositionsNeverLearned(BertEmbeddings):
    def __init__(self, *sizes: int, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.position_embeddings = NeverLearned(self.position_embeddings.weight)


class SegmentsNeverLearned(BertEmbeddings):
    def __init__(self, *sizes: int, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.token_type_embeddings = NeverLearned(self.token_type_embeddings.weight)


class LastRepeatedRowWins(Gather):
    """A row that was read twice gets one of its two gradients."""

    def backward(self, dy: Array, cache: tuple[tuple[int, ...], Array]) -> Array:
        shape, positions = cache
        dx = np.zeros(shape, dy.dtype)
        rows(dx)[positions] = dy
        return dx


class EveryPositionIsPooled(Pooler):
    """Hands the gradient of [CLS] to all positions: broadcasting makes it fit."""

    def backward(self, dy: Array, cache: Any) -> Array:
        dx = super().backward(dy, cache)
        dx[...] = dx[:, :1]
        return dx


class DecoderForgetsTheTable(MaskedLMHead):
    """Learns its own transform and bias, but leaves the table to the embedding."""

    def backward(self, dlogits: Array, cache: Any) -> Array:
        before = self.table.grad.copy()
        dx = super().backward(dlogits, cache)
        self.table.grad[...] = before
        return dx


class DecoderSetsTheTable(MaskedLMHead):
    """Right alone, after `zero_grad`; beside an embedding it depends on who comes last."""

    def backward(self, dlogits: Array, cache: Any) -> Array:
        self.table.grad[...] = 0
        return super().backward(dlogits, cache)
