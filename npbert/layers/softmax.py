"""Softmax: turns numbers into a probability distribution."""

import numpy as np

from npbert.compute import Array, dot_rows, row_maxima, row_sums
from npbert.core import NO_TAPE, Layer, Tape
from npbert.layers.checks import check_floats, check_like


class Softmax(Layer):
    """pⱼ = e^(xⱼ) / Σₖ e^(xₖ) over the last axis.

    x (..., T)   p (..., T)

    Chapter 4 of docs/ derives it; in exercise 4 you do.

    Raises: TypeError for an x that is not an array of floats.
    """

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        check_floats(self, x)
        p = softmax(x)
        tape.keep(self, p=p)
        return p

    def backward(self, dp: Array, tape: Tape) -> Array:
        """dx = p · (dp − Σₖ dpₖ pₖ).

        ∂pₖ/∂xⱼ = pₖ (δₖⱼ − pⱼ): raising xⱼ raises pⱼ and lowers all others, as the sum stays 1. So dxⱼ is pⱼ times the
        difference of dpⱼ and the mean of dp weighted by p.
        """
        p = tape.take(self)
        check_like(self, dp, p.shape, p.dtype)
        return softmax_backward(dp, p)


def softmax(x: Array) -> Array:
    """Return p. The largest x is subtracted first, which does not change p, and no exponential overflows."""
    p = np.exp(x - row_maxima(x))
    p /= row_sums(p)
    return p


def softmax_backward(dp: Array, p: Array) -> Array:
    """dx = p · (dp − Σₖ dpₖ pₖ)"""
    dx = dp - dot_rows(dp, p)
    dx *= p
    return dx
