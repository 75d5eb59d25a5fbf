"""Attention and softmax gone wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.layers import Array, Cache, MultiHeadAttention, Softmax


class _AttentionByHand(MultiHeadAttention):
    """The right backward, with the gradient of K left to a twin."""

    def dk(self, q: Array, dscores: Array) -> Array:
        raise NotImplementedError

    def backward(self, dy: Array, cache: Cache) -> Array:
        q, k, v, weights, parts = cache
        query_cache, key_cache, value_cache, softmax_cache, dropout_cache, output_cache = parts
        dcontext = self._split(self.output.backward(dy, output_cache))
        dprobabilities = self.dropout.backward(dcontext @ v.swapaxes(-1, -2), dropout_cache)
        dscores = self.softmax.backward(dprobabilities, softmax_cache) * self.scale
        dx = self.value.backward(self._merge(weights.swapaxes(-1, -2) @ dcontext), value_cache)
        dx = dx + self.key.backward(self._merge(self.dk(q, dscores)), key_cache)
        return dx + self.query.backward(self._merge(dscores @ k), query_cache)


class KeyGradientReshaped(_AttentionByHand):
    """The gradient of Kᵀ is (B, H, K, T); a reshape makes it fit K, where a transposition is needed."""

    def dk(self, q: Array, dscores: Array) -> Array:
        return (q.swapaxes(-1, -2) @ dscores).reshape(q.shape)


class ScoresNotTransposed(_AttentionByHand):
    """dK = dS Q: as scores are (T, T), the shapes fit without the transposition."""

    def dk(self, q: Array, dscores: Array) -> Array:
        return dscores @ q


class QueryTakenForKey(MultiHeadAttention):
    """dQ is made from Q and dK from K."""

    def backward(self, dy: Array, cache: Cache) -> Array:
        q, k, *others = cache
        return super().backward(dy, (k, q, *others))


class KeyTakenForValue(MultiHeadAttention):
    """dA is made from K and dQ from V."""

    def backward(self, dy: Array, cache: Cache) -> Array:
        q, k, v, *others = cache
        return super().backward(dy, (q, v, k, *others))


class SoftmaxOverTheBatch(Softmax):
    """The gradient is averaged over the leading axis, which forward never was."""

    def backward(self, dp: Array, p: Array) -> Array:
        return super().backward(dp, p) / len(p)


class AttentionWithSoftmaxOverTheBatch(MultiHeadAttention):
    """The same mistake inside attention, where the leading axis is the batch."""

    def __init__(self, *sizes: int, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.softmax = SoftmaxOverTheBatch()


class MaskInverted(MultiHeadAttention):
    """Looks at the padding only; its derivative is right."""

    def forward(
        self, x: Array, attention_mask: Array | None = None, rng: np.random.Generator | None = None
    ) -> tuple[Array, Cache]:
        return super().forward(x, None if attention_mask is None else 1 - attention_mask, rng)


class _SoftmaxOfInfinities(Softmax):
    def forward(self, x: Array) -> tuple[Array, Array]:
        with np.errstate(invalid="ignore"):
            return super().forward(np.where(x.real < -1e3, -np.inf, x))


class MaskOfInfinities(MultiHeadAttention):
    """The score of padding is −∞, and −∞ less the largest score of a row that is all padding is NaN."""

    def __init__(self, *sizes: int, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.softmax = _SoftmaxOfInfinities()


class ScaleInFloat64(MultiHeadAttention):
    """np.sqrt of an integer is a float64 scalar, and that makes float64 of a float32 array."""

    def __init__(self, hidden_size: int, num_heads: int, **options: Any) -> None:
        super().__init__(hidden_size, num_heads, **options)
        self.scale = 1 / np.sqrt(hidden_size // num_heads)
