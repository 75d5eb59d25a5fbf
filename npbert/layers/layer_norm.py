"""LayerNorm: every vector is brought to mean 0 and (but for eps) variance 1, then scaled and shifted as learned."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.blockwise import blockwise
from npbert.layers.checks import check_last_axis
from npbert.layers.parameter import Array, Layer, Parameter
from npbert.layers.product import sum_of_rows
from npbert.layers.row_dots import row_dots


class LayerNorm(Layer):
    """y = γ x̂ + β  with  x̂ = (x − μ) / σ,  μ = mean(x),  σ = √(mean((x − μ)²) + eps), means over the last axis.

    x (..., D)   gamma γ (D,)   beta β (D,)   y (..., D)

    γ starts as 1, β as 0. eps keeps a constant row finite: its x̂ is 0. (Ba et al. 2016, section 3; eps as in BERT.)

    Raises: ValueError when the last axis of x is not D.
    """

    def __init__(self, features: int, *, eps: float = 1e-12, dtype: DTypeLike = np.float32) -> None:
        self.gamma = Parameter(np.ones(features, dtype))
        self.beta = Parameter(np.zeros(features, dtype))
        self.eps = eps

    def __call__(self, x: Array) -> Array:
        """As forward, but what backward needs is not put together."""
        check_last_axis(x, len(self.gamma.value), name="LayerNorm: x")
        y: Array = blockwise(lambda x: self.normalize(x)[0], x)
        return y

    def forward(self, x: Array) -> tuple[Array, tuple[Array, Array]]:
        check_last_axis(x, len(self.gamma.value), name="LayerNorm: x")
        y, x_hat, sigma = blockwise(self.normalize, x)
        return y, (x_hat, sigma)

    def normalize(self, x: Array) -> tuple[Array, Array, Array]:
        """y, x̂ and σ, of any number of rows."""
        centred = x - x.sum(axis=-1, keepdims=True) / x.shape[-1]
        sigma = np.sqrt(row_dots(centred, centred) / x.shape[-1] + self.eps)
        x_hat = centred
        x_hat /= sigma
        y = self.gamma.value * x_hat
        y += self.beta.value
        return y, x_hat, sigma

    def backward(self, dy: Array, cache: tuple[Array, Array]) -> Array:
        """dγ = Σₙ dyₙ x̂ₙ,  dβ = Σₙ dyₙ,  dx = (dx̂ − mean(dx̂) − x̂ · mean(dx̂ · x̂)) / σ  with  dx̂ = γ dy.

        An element xᵢ acts on the row by three roads: on its own x̂ᵢ, and on all x̂ⱼ through μ and through σ.

        - directly:   ∂x̂ᵢ/∂xᵢ = 1/σ                                  gives  dx̂ / σ
        - through μ:  ∂μ/∂xᵢ = 1/D  and  ∂x̂ⱼ/∂μ = −1/σ               gives  −mean(dx̂) / σ
        - through σ:  ∂σ/∂xᵢ = x̂ᵢ/D  and  ∂x̂ⱼ/∂σ = −x̂ⱼ/σ             gives  −x̂ mean(dx̂ · x̂) / σ

        (The μ inside σ adds nothing, as Σ(x − μ) = 0.) So dx̂ loses the part that would shift the row and the part that
        would stretch it: x̂ cannot shift and, but for eps, cannot stretch. γ stays inside both means, since it weighs
        each x̂ⱼ differently. eps needs no term of its own: it is inside σ.
        """
        x_hat, sigma = cache
        self.add_gradients(dy, x_hat)
        dx: Array = blockwise(self.dx, dy, x_hat, sigma)
        return dx

    def add_gradients(self, dy: Array, x_hat: Array) -> None:
        """dγ and dβ, which every row adds to."""
        self.gamma.grad += sum_of_rows(dy * x_hat)
        self.beta.grad += sum_of_rows(dy)

    def dx(self, dy: Array, x_hat: Array, sigma: Array) -> Array:
        """The gradient of x, of any number of rows."""
        dx_hat = self.gamma.value * dy
        stretch = row_dots(dx_hat, x_hat) / dy.shape[-1]
        dx = dx_hat
        dx -= dx_hat.sum(axis=-1, keepdims=True) / dy.shape[-1]
        dx -= x_hat * stretch
        dx /= sigma
        return dx
