"""GELU: the input times the probability that a standard normal number is smaller."""

import math

import numpy as np

from npbert.compute import Array, erf
from npbert.layers.elementwise import Elementwise


class GELU(Elementwise):
    """y = x Φ(x)  with  Φ(x) = ½ (1 + erf(x/√2)), the distribution function of the standard normal.

    x (N, D)   y (N, D)

    The exact form, Hugging Face's `gelu` and its default for BERT; Google's code uses the approximation `TanhGELU`.
    Forward and backward, dx = dy · y′, are in `Elementwise`. (Hendrycks & Gimpel 2016, section 2.) Chapter 1 of docs/
    derives it; in exercise 3 you do.
    """

    def value(self, x: Array) -> Array:
        """y = x Φ(x)"""
        return x * _cdf(x)

    def value_and_slope(self, x: Array) -> tuple[Array, Array]:
        """y = x Φ(x)  and  y′ = Φ(x) + x φ(x)  with  φ = Φ′.

        The product rule: x appears once as the factor and once inside Φ. And φ(x) = e^(−x²/2) / √(2π), since erf′(z) =
        2/√π · e^(−z²), times ½, and times the inner derivative 1/√2.
        """
        cdf = _cdf(x)
        return x * cdf, cdf + x * _density(x)


def _cdf(x: Array) -> Array:
    """Φ(x)"""
    return 0.5 * (1 + erf(x, divisor=math.sqrt(2)))


def _density(x: Array) -> Array:
    """φ(x) = e^(−x²/2) / √(2π)"""
    density = -0.5 * x * x
    np.exp(density, out=density)
    density *= 1 / math.sqrt(2 * math.pi)
    return density
