"""LayerNorm: brings every row to mean 0 and variance 1 (up to eps), then scales and shifts it."""

import numpy as np

from npbert.compute import Array, dot_rows, rowwise, sum_rows
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers.checks import check_like, check_rows


class LayerNorm(Layer):
    """y = γ x̂ + β  with  x̂ = (x − μ) / σ,  μ = mean(x),  σ = √(mean((x − μ)²) + eps), means over each row.

    x (N, D)   gamma γ (D,)   beta β (D,)   y (N, D)

    γ starts as 1, β as 0. eps keeps σ of a constant row from being 0. (Ba et al. 2016, section 3; eps as in BERT.)
    Chapter 5 of docs/ derives it; in exercise 7 you do.

    Raises: ValueError when x is not (N, D), TypeError when its dtype is not that of γ.
    """

    def __init__(self, features: int, init: Init, *, eps: float = 1e-12) -> None:
        self.gamma = init.ones(features)
        self.beta = init.zeros(features)
        self.eps = eps

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        check_rows(self, x, len(self.gamma.value), self.gamma.value.dtype)
        y, x_hat, sigma = rowwise(self.normalize, x)
        tape.keep(self, x_hat=x_hat, sigma=sigma)
        return y

    def normalize(self, x: Array) -> tuple[Array, Array, Array]:
        """Return y (N, D), x̂ (N, D) and σ (N, 1)."""
        mu = x.sum(axis=-1, keepdims=True) / x.shape[-1]  # (N, 1)
        centred = x - mu
        sigma = np.sqrt(dot_rows(centred, centred) / x.shape[-1] + self.eps)  # (N, 1)
        sigma += sigma - sigma  # adds 0, or NaN if a square overflowed: otherwise the row, divided by inf, would be 0
        x_hat = np.divide(centred, sigma, out=centred)
        return self.gamma.value * x_hat + self.beta.value, x_hat, sigma

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dγ = Σₙ dyₙ x̂ₙ,  dβ = Σₙ dyₙ,  dx = (dx̂ − mean(dx̂) − x̂ · mean(dx̂ · x̂)) / σ  with  dx̂ = γ dy.

        As yⱼ = γⱼ x̂ⱼ + βⱼ, a yⱼ moves γⱼ times as fast as its x̂ⱼ: dx̂ = γ dy. An xᵢ has three paths to the x̂ of its
        row: directly to its own, and through μ and through σ to all of them. Each adds Σⱼ dx̂ⱼ · ∂x̂ⱼ/∂xᵢ:

        - directly:   ∂x̂ᵢ/∂xᵢ = 1/σ                       dx̂ᵢ · 1/σ   (j = i alone)     = dx̂ᵢ / σ
        - through μ:  ∂x̂ⱼ/∂μ = −1/σ,   ∂μ/∂xᵢ = 1/D       Σⱼ dx̂ⱼ · (−1/σ) · 1/D         = −mean(dx̂) / σ
        - through σ:  ∂x̂ⱼ/∂σ = −x̂ⱼ/σ,  ∂σ/∂xᵢ = x̂ᵢ/D      Σⱼ dx̂ⱼ · (−x̂ⱼ/σ) · x̂ᵢ/D      = −x̂ᵢ mean(dx̂ · x̂) / σ

        The x̂ᵢ/D of the last path: σ² = mean((x − μ)²) + eps, so 2σ · ∂σ/∂xᵢ = 2 (xᵢ − μ)/D, and dividing by 2σ gives
        x̂ᵢ/D. (Its μ also moves with xᵢ, which adds 0, as Σ(x − μ) = 0.) So dx̂ loses two parts: `shift` by the path
        through μ, and x̂ · `stretch` by the path through σ. The reason: x̂ ignores shift and scale, so dx has neither
        component. γ stays inside both means, since it weights each x̂ⱼ differently.
        """
        x_hat, sigma = tape.take(self)
        check_like(self, dy, x_hat.shape, x_hat.dtype)
        self.gamma.add_grad(sum_rows(dy * x_hat))  # (D,)
        self.beta.add_grad(sum_rows(dy))
        return rowwise(self.three_paths, dy, x_hat, sigma)

    def three_paths(self, dy: Array, x_hat: Array, sigma: Array) -> Array:
        """Return dx (N, D), the sum over the three paths."""
        dx_hat = self.gamma.value * dy
        shift = dx_hat.sum(axis=-1, keepdims=True) / dy.shape[-1]  # mean(dx̂) (N, 1)
        stretch = dot_rows(dx_hat, x_hat) / dy.shape[-1]  # mean(dx̂ · x̂) (N, 1)
        dx = np.subtract(dx_hat, shift, out=dx_hat)
        dx -= x_hat * stretch
        dx /= sigma
        return dx
