"""MeanPooling: one vector for a sequence, the mean of those of its tokens."""

from __future__ import annotations

import numpy as np

from npbert.layers.checks import check_mask
from npbert.layers.parameter import Array, Cache, Layer


class MeanPooling(Layer):
    """y = Σₜ mask[t] x[t] / Σₜ mask[t]: padding does not count.

    x (B, T, D)   attention_mask (B, T), 1 = real, 0 = padding   y (B, D); 0 for a sequence that is all padding

    (Reimers & Gurevych 2019, "Sentence-BERT", section 3: their MEAN strategy.)

    Raises: TypeError or ValueError for a mask that is not (B, T) or holds other values than 0 and 1.
    """

    def forward(self, x: Array, attention_mask: Array) -> tuple[Array, Cache]:
        check_mask(attention_mask, x.shape[:2])
        weights = attention_mask / np.maximum(attention_mask.sum(axis=1, keepdims=True), 1)  # (B, T)
        weights = weights.astype(x.dtype)[:, :, None]
        return (x * weights).sum(axis=1), weights

    def backward(self, dy: Array, weights: Cache) -> Array:
        """dx[t] = mask[t] dy / Σ mask: each real token had the same share in the mean."""
        return dy[:, None, :] * weights
