"""GELU: the input times the probability that a standard normal number is smaller."""

from __future__ import annotations

import math

import numpy as np

from npbert.layers.parameter import Array, Layer
from npbert.layers.special import erf


class GELU(Layer):
    """y = x Φ(x)  with  Φ(x) = ½ (1 + erf(x/√2)), the distribution function of the standard normal.

    x (...)   y (...)

    The exact form, Hugging Face's `gelu` and its default for BERT; Google's code has its approximation, `TanhGELU`.
    (Hendrycks & Gimpel 2016, section 2.)
    """

    def forward(self, x: Array) -> tuple[Array, tuple[Array, Array]]:
        cdf = 0.5 * (1 + erf(x / math.sqrt(2)))
        return x * cdf, (x, cdf)

    def backward(self, dy: Array, cache: tuple[Array, Array]) -> Array:
        """dx = dy · (Φ(x) + x φ(x))  with  φ(x) = Φ′(x) = e^(−x²/2) / √(2π).

        The product rule: x appears once as the factor and once inside Φ.
        """
        x, cdf = cache
        density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
        return dy * (cdf + x * density)
