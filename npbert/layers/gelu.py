"""GELU: the input times the probability that a standard normal number is smaller."""

from __future__ import annotations

import math

import numpy as np

from npbert.layers.blockwise import blockwise
from npbert.layers.parameter import Array, Layer
from npbert.layers.special import erf


class GELU(Layer):
    """y = x Φ(x)  with  Φ(x) = ½ (1 + erf(x/√2)), the distribution function of the standard normal.

    x (...)   y (...)

    The exact form, Hugging Face's `gelu` and its default for BERT; Google's code has its approximation, `TanhGELU`.
    (Hendrycks & Gimpel 2016, section 2.)
    """

    def __call__(self, x: Array) -> Array:
        y: Array = blockwise(self.value, x)
        return y

    def forward(self, x: Array) -> tuple[Array, Array]:
        y, slope = blockwise(self.value_and_slope, x)
        return y, slope

    def value(self, x: Array) -> Array:
        """y = x Φ(x), alone."""
        y = self.cdf(x)
        y *= x
        return y

    def value_and_slope(self, x: Array) -> tuple[Array, Array]:
        """y = x Φ(x)  and  y′ = Φ(x) + x φ(x)  with  φ(x) = Φ′(x) = e^(−x²/2) / √(2π).

        The product rule: x appears once as the factor and once inside Φ. As Φ is needed for both, the slope is made
        here and not in backward, which saves half of the work.
        """
        cdf = self.cdf(x)
        slope = x * x
        slope *= -0.5
        np.exp(slope, out=slope)
        slope *= 1 / math.sqrt(2 * math.pi)  # φ(x)
        slope *= x
        slope += cdf
        return x * cdf, slope

    def backward(self, dy: Array, slope: Array) -> Array:
        """dx = dy · y′: the chain rule, element by element."""
        return dy * slope

    @staticmethod
    def cdf(x: Array) -> Array:
        """Φ(x)"""
        cdf = erf(x, math.sqrt(2))
        cdf += 1
        cdf *= 0.5
        return cdf
