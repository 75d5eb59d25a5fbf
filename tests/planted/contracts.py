"""Mistakes that any layer can make: a gradient that is set, an array that is another's, a cache kept on `self`."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.layers import Array, Layer, LayerNorm, Linear, Tanh, rows


def remembering(layer_class: type[Layer]) -> type[Any]:
    """The layer with its cache on `self`: the second of two calls overwrites that of the first."""

    class Remembering(layer_class):  # type: ignore[misc, valid-type]
        def forward(self, *inputs: Any) -> tuple[Any, None]:
            y, self.remembered = super().forward(*inputs)
            return y, None

        def backward(self, dy: Any, cache: None) -> Any:
            return super().backward(dy, self.remembered)

    Remembering.__name__ = f"Remembering{layer_class.__name__}"
    return Remembering


class Assigns(Linear):
    """The gradients of the last backward only."""

    def backward(self, dy: Array, x: Array) -> Array:
        self.zero_grad()
        return super().backward(dy, x)


class Rebinds(Linear):
    """The same by another road: a new array takes the place of the old `grad`."""

    def backward(self, dy: Array, x: Array) -> Array:
        self.weight.grad = rows(x).T @ rows(dy)
        self.bias.grad = rows(dy).sum(axis=0)
        return (rows(dy) @ self.weight.value.T).reshape(x.shape)


class Overwrites(Linear):
    """A zero that was never written is overwritten, and so is every gradient after it."""

    def backward(self, dy: Array, x: Array) -> Array:
        np.matmul(rows(x).T, rows(dy), out=self.weight.grad_to_overwrite())
        self.bias.grad += rows(dy).sum(axis=0)
        return (rows(dy) @ self.weight.value.T).reshape(x.shape)


class WritesInDy(Tanh):
    def backward(self, dy: Array, y: Array) -> Array:
        dy *= 1 - y * y
        return dy


class WritesInItsOutput(Tanh):
    """The cache is the output that the caller still holds."""

    def backward(self, dy: Array, y: Array) -> Array:
        y *= y
        return dy * (1 - y)


class CentresTheCallersInput(LayerNorm):
    """Saves an array by subtracting the mean in place, in what belongs to the caller."""

    def forward(self, x: Array) -> tuple[Array, tuple[Array, Array]]:
        x -= x.mean(axis=-1, keepdims=True)
        return super().forward(x)
