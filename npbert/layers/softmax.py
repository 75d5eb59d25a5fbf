"""Softmax: numbers become a probability distribution."""

from __future__ import annotations

import numpy as np

from npbert.layers.parameter import Array, Layer
from npbert.layers.row_dots import row_dots


class Softmax(Layer):
    """pⱼ = e^(xⱼ) / Σₖ e^(xₖ) over the last axis.

    x (..., N)   p (..., N)

    The largest x is subtracted first: p does not change by it, and no exponential overflows.
    """

    def forward(self, x: Array) -> tuple[Array, Array]:
        p = np.exp(x - x.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        return p, p

    def backward(self, dp: Array, p: Array) -> Array:
        """dx = p · (dp − Σₖ dpₖ pₖ).

        ∂pₖ/∂xⱼ = pₖ (δₖⱼ − pⱼ): raising xⱼ raises pⱼ and takes from all others, so that the sum stays 1. So dxⱼ is pⱼ
        times how far dpⱼ lies above the mean of dp, weighted by p.
        """
        dx = dp - row_dots(dp, p)
        dx *= p
        return dx
