"""Encoder: a stack of encoder layers, each with weights of its own."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np

from npbert.layers.encoder_layer import EncoderLayer
from npbert.layers.encoder_rows import EncoderRows
from npbert.layers.parameter import Array, Cache, Layer
from npbert.threads import num_threads, run, slices

SHARE = 8_000
"""Elements of a batch that are worth a thread: one with fewer would hardly have begun before another has done them."""


class Encoder(Layer):
    """x₀ = x,  xₗ = EncoderLayerₗ(xₗ₋₁),  y = x_L.

    x (B, T, D)   attention_mask (B, T), 1 = real, 0 = padding; None for no padding   y (B, T, D)
    rng: where dropout is drawn from; None means evaluation.
    read (M,): the positions of the flattened batch whose vectors are wanted; then y is (M, D), and what they do not
    depend on is not computed (`EncoderRows`). None means all, y (B, T, D).

    gradient_checkpointing: when it is set to True, a layer keeps only its input for backward, which runs its forward
    again: a third
    more work for a fraction of the memory. (Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost".)

    Raises: what EncoderLayer raises; ValueError for a cache that an earlier backward has used up; IndexError for a
    position to read that is outside the batch.
    """

    def __init__(self, layers: Iterable[EncoderLayer]) -> None:
        self.layers = list(layers)
        if not self.layers:
            raise ValueError("an encoder needs at least one layer")
        self.gradient_checkpointing = False

    def __call__(
        self, x: Array, attention_mask: Array | None = None, rng: None = None, read: Array | None = None
    ) -> Array:
        """As forward, but what a layer keeps for backward is dropped before the next layer runs.

        Each thread takes some of the sequences through all layers: sequences have nothing to do with one another.
        """
        batch_size, length, _ = x.shape
        pieces = min(num_threads(), batch_size, x.size // SHARE)
        if pieces < 2:
            return self._encode(x, attention_mask, read)
        EncoderRows(x.shape, attention_mask, read)  # or an error would count from the first sequence of a piece
        y = np.empty(x.shape if read is None else (len(read), x.shape[-1]), x.dtype)

        def encode(piece: slice) -> None:
            mask = None if attention_mask is None else attention_mask[piece]
            if read is None:
                y[piece] = self._encode(x[piece], mask, None)
                return
            here = np.flatnonzero((read >= piece.start * length) & (read < piece.stop * length))
            if here.size:
                y[here] = self._encode(x[piece], mask, read[here] - piece.start * length)

        run(encode, slices(batch_size, pieces))
        return y

    def _encode(self, x: Array, attention_mask: Array | None, read: Array | None) -> Array:
        rows = EncoderRows(x.shape, attention_mask, read)
        h = rows.input(x)
        for layer, queries in rows.of_layers(self.layers):
            h = layer(h, rows.attention_mask, None, rows.grid, queries)
        return rows.output(h)

    def forward(
        self,
        x: Array,
        attention_mask: Array | None = None,
        rng: np.random.Generator | None = None,
        read: Array | None = None,
    ) -> tuple[Array, list[Cache]]:
        rows = EncoderRows(x.shape, attention_mask, read)
        h = rows.input(x)
        caches: list[Cache] = [rows]
        for layer, queries in rows.of_layers(self.layers):
            inputs = (
                h,
                rows.attention_mask,
                copy.deepcopy(rng) if self.gradient_checkpointing else rng,
                rows.grid,
                queries,
            )
            h, cache = layer.forward(h, rows.attention_mask, rng, rows.grid, queries)
            caches.append((None, inputs) if self.gradient_checkpointing else (cache, None))
            del cache  # or it would stay until the next layer has made its own
        return rows.output(h), caches

    def backward(self, dy: Array, caches: list[Cache]) -> Array:
        """The layers in reverse. Each cache is popped, so that its memory is freed as soon as it has been used."""
        if not caches:
            raise ValueError("this cache has been used up by an earlier backward: run forward again")
        rows = caches[0]
        dh = rows.doutput(dy)
        for layer in reversed(self.layers):
            layer_cache, inputs = caches.pop()
            if inputs is not None:
                _, layer_cache = layer.forward(*inputs)
            dh = layer.backward(dh, layer_cache)
        caches.pop()
        return rows.dinput(dh)
