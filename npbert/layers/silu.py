"""SiLU: the input times its own sigmoid."""

import numpy as np

from npbert.compute import Array
from npbert.layers.elementwise import Elementwise


class SiLU(Elementwise):
    """y = x σ(x)  with  σ(x) = 1 / (1 + e⁻ˣ).

    x (N, D)   y (N, D)

    Also called Swish; NomicBERT's gate. (Hendrycks & Gimpel 2016, section 2; Ramachandran et al. 2017.)
    Chapter 11 of docs/ derives it.
    """

    def value_and_slope(self, x: Array) -> tuple[Array, Array]:
        """y = x σ(x)  and  y′ = σ(x) + y (1 − σ(x)).

        The product rule, with σ′ = σ (1 − σ): the second term is x σ′ = x σ (1 − σ) = y (1 − σ).
        """
        sigmoid = 0.5 * (1 + np.tanh(0.5 * x))  # the same function, without overflow
        y = x * sigmoid
        return y, sigmoid + y * (1 - sigmoid)
