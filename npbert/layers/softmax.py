"""Softmax: numbers become a probability distribution."""

from __future__ import annotations

import numpy as np

from npbert.layers.parameter import Array, Layer


class Softmax(Layer):
    """pⱼ = e^(xⱼ) / Σₖ e^(xₖ) over the last axis.

    x (..., N)   p (..., N)

    The largest x is subtracted first: p does not change by it, and no exponential overflows.
    """

    def forward(self, x: Array) -> tuple[Array, Array]:
        exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
        p = exponentials / exponentials.sum(axis=-1, keepdims=True)
        return p, p

    def backward(self, dp: Array, p: Array) -> Array:
        """dx = p · (dp − Σₖ dpₖ pₖ).

        ∂pₖ/∂xⱼ = pₖ (δₖⱼ − pⱼ): raising xⱼ raises pⱼ and takes from all others, so that the sum stays 1. So dxⱼ is pⱼ
        times how far dpⱼ lies above the mean of dp, weighted by p.
        """
        return p * (dp - (dp * p).sum(axis=-1, keepdims=True))
