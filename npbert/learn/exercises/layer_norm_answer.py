"""Exercise 7, LayerNorm: a backward in which dx, dγ and dβ may each be given in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.layers import LayerNorm
from npbert.learn.exercise import Mistakes


class Row(NamedTuple):
    """What backward has: dy, x̂, dx̂ = γ dy, γ and σ."""

    dy: Array
    x_hat: Array
    dx_hat: Array
    gamma: Array
    sigma: Array


def mean(x: Array) -> Array:
    """Of each row (N, 1)."""
    return np.asarray(x.mean(axis=-1, keepdims=True))


def backward_with(
    layer: LayerNorm,
    dy: Array,
    tape: Tape,
    *,
    dx: Callable[[Row], Array] = lambda r: (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma,
    dgamma: Callable[[Row], Array | None] = lambda r: (r.dy * r.x_hat).sum(axis=0),
    dbeta: Callable[[Row], Array | None] = lambda r: r.dy.sum(axis=0),
) -> Array:
    """The right backward, but for the gradients that are given in another way."""
    x_hat, sigma = tape.take(layer)
    row = Row(dy, x_hat, layer.gamma.value * dy, layer.gamma.value, sigma)
    for parameter, found in ((layer.gamma, dgamma(row)), (layer.beta, dbeta(row))):
        if found is not None:
            parameter.add_grad(found)
    return dx(row)


def add(mistakes: Mistakes, name: str, says: str, because: str, **changes: Any) -> None:
    """Add a mistake: the right backward, but for what is given in another way."""

    def backward(self: LayerNorm, dy: Array, tape: Tape) -> Array:
        return backward_with(self, dy, tape, **changes)

    backward.__name__ = name
    mistakes(says, because)(backward)
