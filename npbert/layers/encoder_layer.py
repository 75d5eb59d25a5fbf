"""EncoderLayer: attention, then feed-forward, each with dropout, a residual connection and LayerNorm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.add_norm import AddNorm
from npbert.layers.attention import MultiHeadAttention
from npbert.layers.feed_forward import FeedForward
from npbert.layers.grid import Grid
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
        self.attention_norm = AddNorm(hidden_size, dropout=dropout, eps=layer_norm_eps, dtype=dtype)
        self.feed_forward = FeedForward(hidden_size, intermediate_size, activation=activation, **init)
        self.output_norm = AddNorm(hidden_size, dropout=dropout, eps=layer_norm_eps, dtype=dtype)

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
        h = self.attention_norm(_chosen(x, queries), attended)
        return self.output_norm(h, self.feed_forward(h))

    def forward(
        self,
        x: Array,
        attention_mask: Array | None = None,
        rng: np.random.Generator | None = None,
        grid: Grid | None = None,
        queries: Array | None = None,
    ) -> tuple[Array, Cache]:
        attended, attention_cache = self.attention.forward(x, attention_mask, rng, grid, queries)
        h, attention_norm_cache = self.attention_norm.forward(_chosen(x, queries), attended, rng)
        transformed, feed_forward_cache = self.feed_forward.forward(h)
        y, output_norm_cache = self.output_norm.forward(h, transformed, rng)
        return y, (attention_cache, attention_norm_cache, feed_forward_cache, output_norm_cache, queries)

    def backward(self, dy: Array, cache: Cache) -> Array:
        """Through each half, y = AddNorm(x, f(x)), backwards:  dx = dx from the addition + f.backward(df).

        x takes two roads, past the sub-layer and through it, and collects the gradient of both.
        """
        attention_cache, attention_norm_cache, feed_forward_cache, output_norm_cache, queries = cache
        dh, dtransformed = self.output_norm.backward(dy, output_norm_cache)
        dh += self.feed_forward.backward(dtransformed, feed_forward_cache)

        dpast, dattended = self.attention_norm.backward(dh, attention_norm_cache)
        dx: Array = self.attention.backward(dattended, attention_cache)
        if queries is None:
            dx += dpast
        else:
            rows(dx)[queries] += dpast
        return dx


def _chosen(x: Array, queries: Array | None) -> Array:
    return x if queries is None else rows(x)[queries]
