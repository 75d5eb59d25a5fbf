"""Encoder layers gone wrong: residual connections, dropout, and rows that are left out or read twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.layers import AddNorm, Array, Cache, Dropout, Encoder, EncoderLayer
from tests.planted.attention import RowsMixedUp


class _RemembersWhatItDrew(Dropout):
    def draw(self, shape: tuple[int, ...], rng: np.random.Generator | None) -> Array | None:
        self.kept = super().draw(shape, rng)
        return self.kept

    def backward(self, dy: Array, keep: Array | None) -> Array:
        return super().backward(dy, self.kept)


class OneMaskForTwoSublayers(EncoderLayer):
    """The dropout object keeps its mask to itself, and serves attention and feed-forward."""

    def __init__(self, *sizes: int, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.attention_norm.dropout = self.output_norm.dropout = _RemembersWhatItDrew(self.output_norm.dropout.p)


class ResidualOfQueriesLost(EncoderLayer):
    """The queries learn through attention only, not past it."""

    def backward(self, dy: Array, cache: Cache) -> Array:
        *_, queries = cache
        norm_backward = self.attention_norm.backward
        if queries is not None:
            self.attention_norm.backward = lambda *given: (0, norm_backward(*given)[1])  # type: ignore[method-assign]
        try:
            return super().backward(dy, cache)
        finally:
            self.attention_norm.backward = norm_backward  # type: ignore[method-assign]


class ResidualIsDroppedToo(AddNorm):
    """The road past the sub-layer gets the gradient of the road through it."""

    def backward(self, dy: Array, cache: Cache) -> tuple[Array, Array]:
        _, df = super().backward(dy, cache)
        return df, df


class SublayerIsNotDropped(AddNorm):
    """The road through the sub-layer gets the gradient of the road past it."""

    def backward(self, dy: Array, cache: Cache) -> tuple[Array, Array]:
        dx, _ = super().backward(dy, cache)
        return dx, dx


class LastReadOfARowWins(Encoder):
    """A vector that is read twice gets one of its two gradients."""

    def backward(self, dy: Array, caches: list[Cache]) -> Array:
        rows = caches[0]

        def doutput(dy: Array) -> Array:
            dh = np.zeros((len(rows.queries), dy.shape[-1]))
            dh[rows.query_of] = dy
            return dh

        rows.doutput = doutput
        return super().backward(dy, caches)


class OrderOfReadingLost(Encoder):
    """The gradients of the rows that are read come back in the order of the rows, not in that of reading."""

    def backward(self, dy: Array, caches: list[Cache]) -> Array:
        rows = caches[0]
        rows.query_of = np.sort(rows.query_of)
        return super().backward(dy, caches)


class LayersMixUpRows(Encoder):
    """Each row stands where another should, in every layer."""

    def __init__(self, layers: Any) -> None:
        super().__init__(layers)
        for layer in self.layers:
            layer.attention.__class__ = RowsMixedUp
