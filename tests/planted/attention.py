"""Attention and softmax gone wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from npbert.layers.grid import Grid

from npbert.layers import Array, Cache, DotProductAttention, Layer, MultiHeadAttention, Softmax


class AttendingByHand(DotProductAttention):
    """The textbook over whole arrays, in pieces that a twin can get wrong."""

    __call__ = Layer.__call__

    def mask_scores(self, scores: Array, attention_mask: Array | None) -> Array:
        return scores if attention_mask is None else scores + np.where(attention_mask == 0, -1e4, 0)[:, None, None, :]

    def dk(self, q: Array, dscores: Array) -> Array:
        return dscores.swapaxes(-1, -2) @ q

    def dscores(self, dp: Array, p: Array) -> Array:
        return p * (dp - (dp * p).sum(axis=-1, keepdims=True))

    def forward(
        self, q: Array, k: Array, v: Array, attention_mask: Array | None = None, rng: np.random.Generator | None = None
    ) -> tuple[Array, Cache]:
        scores = self.mask_scores(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), attention_mask)
        with np.errstate(invalid="ignore"):
            exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
            p = exponentials / exponentials.sum(axis=-1, keepdims=True)
        weights, keep = self.dropout.forward(p, rng)
        return weights @ v, (q, k, v, p, keep)

    def backward(self, dcontext: Array, cache: Cache) -> tuple[Array, Array, Array]:
        q, k, v, p, keep = cache
        dv = self.dropout.backward(p, keep).swapaxes(-1, -2) @ dcontext
        dscores = self.dscores(self.dropout.backward(dcontext @ v.swapaxes(-1, -2), keep), p) / np.sqrt(q.shape[-1])
        return dscores @ k, self.dk(q, dscores), dv


def attending_by(dot_product_class: type[DotProductAttention]) -> type[Any]:
    """MultiHeadAttention with a dot product of that class in it."""

    class Attending(MultiHeadAttention):
        def __init__(self, *sizes: int, **options: Any) -> None:
            super().__init__(*sizes, **options)
            self.dot_product = dot_product_class(self.dot_product.dropout.p)

    Attending.__name__ = f"By{dot_product_class.__name__}"
    return Attending


class KeyGradientReshaped(AttendingByHand):
    """The gradient of Kᵀ is (B, H, K, T); a reshape makes it fit K, where a transposition is needed."""

    def dk(self, q: Array, dscores: Array) -> Array:
        return (q.swapaxes(-1, -2) @ dscores).reshape(q.shape)


class ScoresNotTransposed(AttendingByHand):
    """dK = dS Q: as scores are (T, T), the shapes fit without the transposition."""

    def dk(self, q: Array, dscores: Array) -> Array:
        return dscores @ q


class QueryTakenForKey(DotProductAttention):
    """dQ is made from Q and dK from K."""

    def backward(self, dcontext: Array, cache: Cache) -> tuple[Array, Array, Array]:
        q, k, *others = cache
        return super().backward(dcontext, (k, q, *others))


class KeyTakenForValue(DotProductAttention):
    """dA is made from K and dQ from V."""

    def backward(self, dcontext: Array, cache: Cache) -> tuple[Array, Array, Array]:
        q, k, v, *others = cache
        return super().backward(dcontext, (q, v, k, *others))


class SoftmaxOverTheBatch(Softmax):
    """The gradient is averaged over the leading axis, which forward never was."""

    def backward(self, dp: Array, p: Array) -> Array:
        return super().backward(dp, p) / len(p)


class ScoresAveragedOverTheBatch(AttendingByHand):
    """The same mistake inside attention, where the leading axis is the batch."""

    def dscores(self, dp: Array, p: Array) -> Array:
        return super().dscores(dp, p) / len(p)


class KeptOfTheFirstHead(DotProductAttention):
    """Backward has, for every piece of the heads, what dropout kept in the first."""

    def backward(self, dcontext: Array, cache: Cache) -> tuple[Array, Array, Array]:
        *others, keep = cache
        return super().backward(dcontext, (*others, np.broadcast_to(keep[:1, :1], keep.shape)))


class QueriesLeftUnscaled(DotProductAttention):
    """1/√d is undone in dK and forgotten in dQ."""

    def backward(self, dcontext: Array, cache: Cache) -> tuple[Array, Array, Array]:
        dq, dk, dv = super().backward(dcontext, cache)
        return dq * np.sqrt(dq.shape[-1]), dk, dv


class MaskInverted(MultiHeadAttention):
    """Looks at the padding only; its derivative is right."""

    __call__ = Layer.__call__

    def forward(
        self, x: Array, attention_mask: Array | None = None, rng: np.random.Generator | None = None, *rows: Any
    ) -> tuple[Array, Cache]:
        return super().forward(x, None if attention_mask is None else 1 - attention_mask, rng, *rows)


class MaskOfInfinities(AttendingByHand):
    """The score of padding is −∞, and −∞ less the largest score of a row that is all padding is NaN."""

    def mask_scores(self, scores: Array, attention_mask: Array | None) -> Array:
        return scores if attention_mask is None else np.where(attention_mask[:, None, None, :] == 0, -np.inf, scores)


class ScaleInFloat64(DotProductAttention):
    """np.sqrt of an integer is a float64 scalar, and that makes float64 of a float32 array."""

    def forward(
        self, q: Array, k: Array, v: Array, attention_mask: Array | None = None, rng: np.random.Generator | None = None
    ) -> tuple[Array, Cache]:
        return super().forward(q * (1 / np.sqrt(q.shape[-1])), k, v, attention_mask, rng)


class PaddingMixedUp(MultiHeadAttention):
    """Going back, every row is taken from the place beside its own."""

    def backward(self, dy: Array, cache: Cache) -> Array:
        caches, tokens, *others = cache
        return super().backward(dy, (caches, shifted(tokens), *others))


class RowsMixedUp(MultiHeadAttention):
    """Forward and backward agree on places that are not those of the rows."""

    __call__ = Layer.__call__

    def forward(
        self,
        x: Array,
        attention_mask: Array | None = None,
        rng: np.random.Generator | None = None,
        grid: Grid | None = None,
        queries: Array | None = None,
    ) -> tuple[Array, Cache]:
        return super().forward(x, attention_mask, rng, grid and shifted(grid), queries)


def shifted(grid: Grid) -> Grid:
    """The places of all rows, each given to the next row."""
    return grid._replace(places=None if grid.places is None else np.roll(grid.places, 1))
