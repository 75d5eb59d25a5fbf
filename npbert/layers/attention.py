"""MultiHeadAttention: every position looks at all positions and takes a weighted mean of what it finds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.dot_product_attention import DotProductAttention
from npbert.layers.grid import Grid
from npbert.layers.linear import Linear
from npbert.layers.parameter import Array, Cache, Layer, rows


class MultiHeadAttention(Layer):
    """y = concat(head₁ … head_H) Wᴼ + bᴼ  with  headₕ = DotProductAttention(Qₕ, Kₕ, Vₕ).

    x (B, T, D)   attention_mask (B, T), 1 = real, 0 = padding; None for no padding   y (B, T, D)
    rng: where dropout is drawn from; None means evaluation.
    grid: where the rows of x stand, if x is (N, D) and holds only some of the B·T positions, every real one among them.
    queries (M,): the rows of x that look, ascending; then y is (M, D). All are looked at. None means that all look.

    The queries Q = x Wᑫ + bᑫ, and keys K and values V likewise, are cut into H heads of d = D / H features each.
    (Vaswani et al. 2017, sections 3.2.1 and 3.2.2; the biases and the dropout of weights as in BERT's code.)

    Raises: ValueError when H does not divide D, x is not (B, T, D), or attention_mask is not (B, T) or holds another
    value than 0 and 1; TypeError when it holds floats.
    """

    def __init__(
        self,
        hidden_size: int,
        num_heads: int,
        *,
        dropout: float = 0.0,
        rng: np.random.Generator | None,
        initializer_range: float = 0.02,
        dtype: DTypeLike = np.float32,
    ) -> None:
        if num_heads < 1 or hidden_size % num_heads:
            raise ValueError(f"hidden_size {hidden_size} is not divisible by num_heads {num_heads}")
        init: dict[str, Any] = {"rng": rng, "initializer_range": initializer_range, "dtype": dtype}
        self.query = Linear(hidden_size, hidden_size, **init)
        self.key = Linear(hidden_size, hidden_size, **init)
        self.value = Linear(hidden_size, hidden_size, **init)
        self.output = Linear(hidden_size, hidden_size, **init)
        self.dot_product = DotProductAttention(dropout)
        self.num_heads = num_heads

    def __call__(
        self,
        x: Array,
        attention_mask: Array | None = None,
        rng: None = None,
        grid: Grid | None = None,
        queries: Array | None = None,
    ) -> Array:
        """As forward, but what a part keeps for backward is dropped before the next part runs."""
        x_asking, tokens, asking = self._rows_and_grids(x, grid, queries)
        q, k, v = asking.spread(self.query(x_asking)), tokens.spread(self.key(x)), tokens.spread(self.value(x))
        context = self.dot_product(self._split(q), self._split(k), self._split(v), attention_mask)
        y: Array = self.output(asking.collect(self._merge(context)).reshape(x_asking.shape))
        return y

    def forward(
        self,
        x: Array,
        attention_mask: Array | None = None,
        rng: np.random.Generator | None = None,
        grid: Grid | None = None,
        queries: Array | None = None,
    ) -> tuple[Array, Cache]:
        x_asking, tokens, asking = self._rows_and_grids(x, grid, queries)
        q, query_cache = self.query.forward(x_asking)
        k, key_cache = self.key.forward(x)
        v, value_cache = self.value.forward(x)
        q, k, v = self._split(asking.spread(q)), self._split(tokens.spread(k)), self._split(tokens.spread(v))
        context, dot_product_cache = self.dot_product.forward(q, k, v, attention_mask, rng)
        y, output_cache = self.output.forward(asking.collect(self._merge(context)).reshape(x_asking.shape))
        caches = query_cache, key_cache, value_cache, dot_product_cache, output_cache
        return y, (caches, tokens, asking, queries)

    def backward(self, dy: Array, cache: Cache) -> Array:
        """Back through the output, the heads and the three projections.

        x went into three projections, so dx is the sum of what comes back from all three. (The key bias adds the same
        number to all scores of a query, which softmax does not notice: its gradient is always 0.)
        """
        caches, tokens, asking, queries = cache
        query_cache, key_cache, value_cache, dot_product_cache, output_cache = caches
        dcontext = self._split(asking.spread(self.output.backward(dy, output_cache)))
        dq, dk, dv = self.dot_product.backward(dcontext, dot_product_cache)

        dx = self.value.backward(tokens.collect(self._merge(dv)), value_cache)
        dx += self.key.backward(tokens.collect(self._merge(dk)), key_cache)
        dx_asking = self.query.backward(asking.collect(self._merge(dq)), query_cache)
        if queries is None:
            dx += dx_asking
        else:
            rows(dx)[queries] += dx_asking
        return dx

    def probabilities(self, x: Array, attention_mask: Array | None = None) -> Array:
        """What each query takes from each key, softmax(Q Kᵀ/√d + mask), (B, H, T, T): a row a query, rows sum to 1.

        x (B, T, D)
        """
        _grid_of(x)
        q, k = self._split(self.query(x)), self._split(self.key(x))
        y: Array = self.dot_product.softmax(self.dot_product.scores(q, k, attention_mask))
        return y

    def _rows_and_grids(self, x: Array, grid: Grid | None, queries: Array | None) -> tuple[Array, Grid, Grid]:
        """The rows that look, where all rows stand, and where those that look stand."""
        tokens = grid or _grid_of(x)
        if queries is None:
            return x, tokens, tokens
        return rows(x)[queries], tokens, tokens.of_rows(queries)

    def _split(self, x: Array) -> Array:
        """(B, T, D) -> (B, T, H, d) -> (B, H, T, d)"""
        return x.reshape(*x.shape[:2], self.num_heads, x.shape[2] // self.num_heads).swapaxes(1, 2)

    def _merge(self, x: Array) -> Array:
        """(B, H, T, d) -> (B, T, H, d) -> (B, T, D)"""
        b, h, t, d = x.shape
        return x.swapaxes(1, 2).reshape(b, t, h * d)


def _grid_of(x: Array) -> Grid:
    if x.ndim != 3:
        raise ValueError(f"MultiHeadAttention: x has shape {x.shape}, wanted (B, T, D)")
    return Grid(x.shape[:2])
