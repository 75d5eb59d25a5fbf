"""Tanh: squashes every number into −1 to 1."""

from __future__ import annotations

import numpy as np

from npbert.layers.parameter import Array, Layer


class Tanh(Layer):
    """y = tanh(x).

    x (...)   y (...)
    """

    def forward(self, x: Array) -> tuple[Array, Array]:
        y = np.tanh(x)
        return y, y

    def backward(self, dy: Array, y: Array) -> Array:
        """dx = dy · (1 − y²): the derivative of tanh is one minus its own square, so the output is all it needs."""
        return dy * (1 - y * y)
