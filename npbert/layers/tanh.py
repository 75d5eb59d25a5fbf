"""Tanh: maps every number to −1 … 1."""

import numpy as np

from npbert.compute import Array
from npbert.layers.elementwise import Elementwise


class Tanh(Elementwise):
    """y = tanh(x).

    x (N, D)   y (N, D)
    """

    def value_and_slope(self, x: Array) -> tuple[Array, Array]:
        """y = tanh(x)  and  y′ = 1 − y²: steepest at 0, and flat near y = −1 and 1."""
        y = np.tanh(x)
        return y, 1 - y * y
