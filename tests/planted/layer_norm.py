"""LayerNorm gone wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.layers import Array, LayerNorm, rows


class GammaOutOfTheSums(LayerNorm):
    """dx = γ (dy − mean(dy) − x̂ mean(dy x̂)) / σ: right as long as γ is constant."""

    def backward(self, dy: Array, cache: tuple[Array, Array]) -> Array:
        x_hat, sigma = cache
        self.gamma.grad += rows(dy * x_hat).sum(axis=0)
        self.beta.grad += rows(dy).sum(axis=0)
        stretch = (dy * x_hat).mean(axis=-1, keepdims=True)
        return self.gamma.value * (dy - dy.mean(axis=-1, keepdims=True) - x_hat * stretch) / sigma


class EpsOutOfTheDerivative(LayerNorm):
    """Divides by √variance going back, though forward divided by √(variance + eps)."""

    def backward(self, dy: Array, cache: tuple[Array, Array]) -> Array:
        x_hat, sigma = cache
        return super().backward(dy, (x_hat, np.sqrt(sigma * sigma - self.eps)))


class NoEps(LayerNorm):
    """Forward and backward agree, but a constant row is 0 / 0."""

    def __init__(self, features: int, **options: Any) -> None:
        super().__init__(features, **{**options, "eps": 0.0})

    def forward(self, x: Array) -> tuple[Array, tuple[Array, Array]]:
        with np.errstate(invalid="ignore"):
            return super().forward(x)


class GammaUpdatedTooEarly(LayerNorm):
    """The optimiser's step is taken inside backward, before dx is computed from γ."""

    def backward(self, dy: Array, cache: tuple[Array, Array]) -> Array:
        self.gamma.value -= 1e-3 * rows(dy * cache[0]).sum(axis=0)
        return super().backward(dy, cache)
