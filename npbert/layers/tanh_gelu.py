"""Tanh-GELU: the approximation of GELU that Google's BERT code and GPT use."""

import math

import numpy as np

from npbert.compute import Array
from npbert.layers.elementwise import Elementwise

_SCALE = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


class TanhGELU(Elementwise):
    """y = ½ x (1 + tanh u)  with  u = √(2/π) (x + 0.044715 x³).

    x (N, D)   y (N, D)

    Within 5e-4 of `GELU`. (Hendrycks & Gimpel 2016, section 2.) Hugging Face calls it `gelu_new`.
    """

    def value_and_slope(self, x: Array) -> tuple[Array, Array]:
        """y  and  y′ = ½ (1 + tanh u) + ½ x (1 − tanh² u) u′  with  u′ = √(2/π) (1 + 3 · 0.044715 x²).

        The product rule, then the chain rule through tanh and u.
        """
        tanh = np.tanh(_SCALE * (x + _CUBIC * x * x * x))
        u_prime = _SCALE * (1 + 3 * _CUBIC * x * x)
        return 0.5 * x * (1 + tanh), 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * u_prime
