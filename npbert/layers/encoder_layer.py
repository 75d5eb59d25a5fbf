"""EncoderLayer: attention, then feed-forward, each with dropout, a residual connection and LayerNorm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.attention import MultiHeadAttention
from npbert.layers.dropout import Dropout
from npbert.layers.feed_forward import FeedForward
from npbert.layers.grid import Grid
from npbert.layers.layer_norm import LayerNorm
from npbert.layers.parameter import Array, Cache, Layer, rows


class EncoderLayer(Layer):
    """h = LayerNorm(x + Dropout(MultiHeadAttention(x))),  y = LayerNorm(h + Dropout(FeedForward(h))).

    x (B, T, D)   attention_mask (B, T), 1 = real, 0 = padding; None for no padding   y (B, T, D)
    rng: where dropout is drawn from; None means evaluation.
    grid, queries: for an x or a y of fewer rows, as in MultiHeadAttention; `queries` ascend, and none is there twice.

    LayerNorm comes after each addition ("post-norm"). (Vaswani et al. 2017, section 3.1; Devlin et al. 2018,
    section 3.)

    Raises: what its parts raise, MultiHeadAttention and FeedForward.
    """

    def __init__(
        self,
        hidden_size: int,
        num_heads: int,
        intermediate_size: int,
        *,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: str = "gelu",
        layer_norm_eps: float = 1e-12,
        rng: np.random.Generator | None,
        initializer_range: float = 0.02,
        dtype: DTypeLike = np.float32,
    ) -> None:
        init: dict[str, Any] = {"rng": rng, "initializer_range": initializer_range, "dtype": dtype}
        self.attention = MultiHeadAttention(hidden_size, num_heads, dropout=attention_dropout, **init)
        self.attention_norm = LayerNorm(hidden_size, eps=layer_norm_eps, dtype=dtype)
        self.feed_forward = FeedForward(hidden_size, intermediate_size, activation=activation, **init)
        self.output_norm = LayerNorm(hidden_size, eps=layer_norm_eps, dtype=dtype)
        self.dropout = Dropout(dropout)  # serves both halves: what it dropped is in their caches, not in it

    def __call__(
        self,
        x: Array,
        attention_mask: Array | None = None,
        rng: None = None,
        grid: Grid | None = None,
        queries: Array | None = None,
    ) -> Array:
        """As forward, but what a part keeps for backward is dropped before the next part runs."""
        attended = self.attention(x, attention_mask, rng, grid, queries)
        h = self.attention_norm(_chosen(x, queries) + attended)
        return self.output_norm(h + self.feed_forward(h))

    def forward(
        self,
        x: Array,
        attention_mask: Array | None = None,
        rng: np.random.Generator | None = None,
        grid: Grid | None = None,
        queries: Array | None = None,
    ) -> tuple[Array, Cache]:
        attended, attention_cache = self.attention.forward(x, attention_mask, rng, grid, queries)
        attended, attention_dropout = self.dropout.forward(attended, rng)
        h, attention_norm_cache = self.attention_norm.forward(_chosen(x, queries) + attended)

        transformed, feed_forward_cache = self.feed_forward.forward(h)
        transformed, output_dropout = self.dropout.forward(transformed, rng)
        y, output_norm_cache = self.output_norm.forward(h + transformed)

        attention_half = attention_cache, attention_dropout, attention_norm_cache, queries
        return y, (attention_half, (feed_forward_cache, output_dropout, output_norm_cache))

    def backward(self, dy: Array, cache: Cache) -> Array:
        """Through s = h + f(h):  dh = ds + f.backward(ds).

        An addition hands its gradient to both sides unchanged, so the gradient takes the residual road unchanged, and
        also the road through the sub-layer.
        """
        attention_half, (feed_forward_cache, output_dropout, output_norm_cache) = cache
        attention_cache, attention_dropout, attention_norm_cache, queries = attention_half

        dsum = self.output_norm.backward(dy, output_norm_cache)
        dtransformed = self.dropout.backward(dsum, output_dropout)
        dh = dsum + self.feed_forward.backward(dtransformed, feed_forward_cache)

        dsum = self.attention_norm.backward(dh, attention_norm_cache)
        dattended = self.dropout.backward(dsum, attention_dropout)
        dx: Array = self.attention.backward(dattended, attention_cache)
        if queries is None:
            dx += dsum
        else:
            rows(dx)[queries] += dsum
        return dx


def _chosen(x: Array, queries: Array | None) -> Array:
    return x if queries is None else rows(x)[queries]
