"""Pooler: one vector for the whole sequence, made from its [CLS] position."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.linear import Linear
from npbert.layers.parameter import Array, Cache, Layer
from npbert.layers.tanh import Tanh


class Pooler(Layer):
    """y = tanh(x[:, 0] W + b).

    x (B, T, D)   W (D, D)   y (B, D)

    [CLS] is always at position 0. (Devlin et al. 2018, section 3; the layer is in its code.)

    Raises: ValueError when the last axis of x is not D.
    """

    def __init__(
        self,
        hidden_size: int,
        *,
        rng: np.random.Generator | None,
        initializer_range: float = 0.02,
        dtype: DTypeLike = np.float32,
    ) -> None:
        self.dense = Linear(hidden_size, hidden_size, rng=rng, initializer_range=initializer_range, dtype=dtype)
        self.activation = Tanh()

    def forward(self, x: Array) -> tuple[Array, Cache]:
        h, dense_cache = self.dense.forward(x[:, 0])
        y, activation_cache = self.activation.forward(h)
        return y, (x.shape, dense_cache, activation_cache)

    def backward(self, dy: Array, cache: Cache) -> Array:
        """dx is 0 everywhere but at position 0, the only one that was read."""
        shape, dense_cache, activation_cache = cache
        dx = np.zeros(shape, dy.dtype)
        dx[:, 0] = self.dense.backward(self.activation.backward(dy, activation_cache), dense_cache)
        return dx
