"""ReLU: the positive part."""

from __future__ import annotations

import numpy as np

from npbert.layers.parameter import Array, Layer


class ReLU(Layer):
    """y = max(x, 0).

    x (...)   y (...)

    The original Transformer's activation (Vaswani et al. 2017, section 3.3).
    """

    def forward(self, x: Array) -> tuple[Array, Array]:
        blocked = x.real <= 0  # x is complex only in gradcheck's complex step: its real part decides
        return np.where(blocked, 0, x), blocked

    def backward(self, dy: Array, blocked: Array) -> Array:
        """dx = dy where x > 0, else 0: the gradient passes where the input passed. At 0 it is taken as 0."""
        return np.where(blocked, 0, dy)
