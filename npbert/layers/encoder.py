"""Encoder: a stack of encoder layers, each with weights of its own."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from npbert.layers.encoder_layer import EncoderLayer
from npbert.layers.parameter import Array, Cache, Layer


class Encoder(Layer):
    """x₀ = x,  xₗ = EncoderLayerₗ(xₗ₋₁),  y = x_L.

    x (B, T, D)   attention_mask (B, T), 1 = real, 0 = padding; None for no padding   y (B, T, D)
    rng: where dropout is drawn from; None means evaluation.

    Raises: what EncoderLayer raises; ValueError for a cache that an earlier backward has used up.
    """

    def __init__(self, layers: Iterable[EncoderLayer]) -> None:
        self.layers = list(layers)

    def __call__(self, x: Array, attention_mask: Array | None = None) -> Array:
        """As forward, but what a layer keeps for backward is dropped before the next layer runs."""
        for layer in self.layers:
            x = layer(x, attention_mask)
        return x

    def forward(
        self, x: Array, attention_mask: Array | None = None, rng: np.random.Generator | None = None
    ) -> tuple[Array, list[Cache]]:
        caches = []
        for layer in self.layers:
            x, cache = layer.forward(x, attention_mask, rng)
            caches.append(cache)
        return x, caches

    def backward(self, dy: Array, caches: list[Cache]) -> Array:
        """The layers in reverse. Each cache is popped, so that its memory is freed as soon as it has been used."""
        if len(caches) != len(self.layers):
            raise ValueError("this cache has been used up by an earlier backward: run forward again")
        for layer in reversed(self.layers):
            dy = layer.backward(dy, caches.pop())
        return dy
