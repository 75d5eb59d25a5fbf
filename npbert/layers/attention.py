"""MultiHeadAttention: every position looks at all positions and takes a weighted mean of what it finds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.checks import check_mask
from npbert.layers.dropout import Dropout
from npbert.layers.linear import Linear
from npbert.layers.parameter import Array, Cache, Layer
from npbert.layers.softmax import Softmax

# Added to the score of a padded key (the value in BERT's code). e^(−10⁴) is 0, so beside a real key it gets weight 0.
# Where all keys of a row are padded, softmax ignores what they share: the weights are finite, where −∞ would give NaN.
PADDED_SCORE = -1e4


class MultiHeadAttention(Layer):
    """y = concat(head₁ … head_H) Wᴼ + bᴼ  with  headₕ = Dropout(softmax(Qₕ Kₕᵀ / √d + mask)) Vₕ.

    x (B, T, D)   attention_mask (B, T), 1 = real, 0 = padding; None for no padding   y (B, T, D)
    rng: where dropout is drawn from; None means evaluation.

    The queries Q = x Wᑫ + bᑫ, and keys K and values V likewise, all (B, T, D), are cut into H heads of d = D / H
    features each. (Vaswani et al. 2017, sections 3.2.1 and 3.2.2; the biases and this dropout as in BERT's code.)

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
        self.softmax = Softmax()
        self.dropout = Dropout(dropout)
        self.num_heads = num_heads
        self.scale = 1 / math.sqrt(hidden_size // num_heads)

    def forward(
        self, x: Array, attention_mask: Array | None = None, rng: np.random.Generator | None = None
    ) -> tuple[Array, Cache]:
        if x.ndim != 3:
            raise ValueError(f"MultiHeadAttention: x has shape {x.shape}, wanted (B, T, D)")
        q, query_cache = self.query.forward(x)
        k, key_cache = self.key.forward(x)
        v, value_cache = self.value.forward(x)
        q, k, v = self._split(q), self._split(k), self._split(v)  # (B, H, T, d)

        probabilities, softmax_cache = self.softmax.forward(self._scores(q, k, attention_mask))
        weights, dropout_cache = self.dropout.forward(probabilities, rng)
        context = weights @ v  # (B, H, T, d)

        y, output_cache = self.output.forward(self._merge(context))
        parts = query_cache, key_cache, value_cache, softmax_cache, dropout_cache, output_cache
        return y, (q, k, v, weights, parts)

    def backward(self, dy: Array, cache: Cache) -> Array:
        """For each head, with S = Q Kᵀ/√d + mask,  P = softmax(S),  A = Dropout(P)  and  C = A V:

        dV = Aᵀ dC,  dA = dC Vᵀ,  dP and dS by the backwards of dropout and softmax,  dQ = dS K/√d,  dK = dSᵀ Q/√d.

        A product C = A V hands each factor the gradient times the other factor, transposed so that shapes fit. The mask
        is a constant added to S, so it has no gradient. x went into three projections, so dx is the sum of what comes
        back from all three. (The key bias adds the same number to all scores of a query, which softmax does not
        notice: its gradient is always 0.)
        """
        q, k, v, weights, parts = cache
        query_cache, key_cache, value_cache, softmax_cache, dropout_cache, output_cache = parts

        dcontext = self._split(self.output.backward(dy, output_cache))
        dv = weights.swapaxes(-1, -2) @ dcontext
        dweights = dcontext @ v.swapaxes(-1, -2)
        dprobabilities = self.dropout.backward(dweights, dropout_cache)
        dscores = self.softmax.backward(dprobabilities, softmax_cache)
        dq = dscores @ k * self.scale
        dk = dscores.swapaxes(-1, -2) @ q * self.scale

        dx = self.value.backward(self._merge(dv), value_cache)
        dx = dx + self.key.backward(self._merge(dk), key_cache)
        return dx + self.query.backward(self._merge(dq), query_cache)

    def probabilities(self, x: Array, attention_mask: Array | None = None) -> Array:
        """What each query takes from each key, softmax(Q Kᵀ/√d + mask), (B, H, T, T): a row a query, rows sum to 1."""
        q, k = self._split(self.query(x)), self._split(self.key(x))
        y: Array = self.softmax(self._scores(q, k, attention_mask))
        return y

    def _scores(self, q: Array, k: Array, attention_mask: Array | None) -> Array:
        """Q Kᵀ/√d + mask (B, H, T, T): a row a query, a column a key."""
        scores: Array = q @ k.swapaxes(-1, -2) * self.scale
        if attention_mask is None:
            return scores
        check_mask(attention_mask, (q.shape[0], q.shape[2]))
        padded = np.where(attention_mask == 0, PADDED_SCORE, 0).astype(scores.dtype)
        return scores + padded[:, None, None, :]

    def _split(self, x: Array) -> Array:
        """(B, T, D) -> (B, T, H, d) -> (B, H, T, d)"""
        return x.reshape(*x.shape[:2], self.num_heads, -1).swapaxes(1, 2)

    def _merge(self, x: Array) -> Array:
        """(B, H, T, d) -> (B, T, H, d) -> (B, T, D)"""
        x = x.swapaxes(1, 2)
        return x.reshape(*x.shape[:2], -1)
