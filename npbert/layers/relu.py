"""ReLU: the positive part."""

import numpy as np

from npbert.compute import Array
from npbert.layers.elementwise import Elementwise


class ReLU(Elementwise):
    """y = max(x, 0).

    x (N, D)   y (N, D)

    The original Transformer's activation (Vaswani et al. 2017, section 3.3).
    """

    def value_and_slope(self, x: Array) -> tuple[Array, Array]:
        """y  and  y′ = 1 where x > 0, else 0: a gradient passes where x passed. At 0 the slope is defined as 0. (In
        gradcheck's complex step the real part decides.)"""
        return np.where(x.real <= 0, 0, x), (x > 0).astype(x.dtype)
