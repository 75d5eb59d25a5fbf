"""Grid: vectors of sequences of unequal length, laid out as a rectangle and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from npbert.layers.parameter import Array, rows


class Grid(NamedTuple):
    """Where N vectors stand in a rectangle of `shape` (B, T): at the flat `places` (N,), or at all B·T in order (None).

    Attention is computed on rectangles; everything else treats each vector by itself, so it needs no padding. `spread`
    and `collect` take each element from one place to another, so each is the backward of the other.
    """

    shape: tuple[int, int]
    places: Array | None = None

    def of_rows(self, chosen: Array) -> Grid:
        """Where some of the vectors, `chosen` in ascending order (M,), stand in the narrowest rectangle (B, R) that
        keeps them in their sequences."""
        places = chosen if self.places is None else self.places[chosen]
        sequence = places // self.shape[1]
        lengths = np.bincount(sequence, minlength=self.shape[0])
        width = int(lengths.max(initial=0))
        rank = np.arange(len(chosen)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return Grid((self.shape[0], width), sequence * width + rank)

    def spread(self, x: Array) -> Array:
        """x (N, D) -> (B, T, D), which is 0 where no vector stands."""
        x = rows(x)
        if self.places is not None:
            vectors, x = x, np.zeros((self.shape[0] * self.shape[1], x.shape[1]), x.dtype)
            x[self.places] = vectors
        return x.reshape(*self.shape, x.shape[1])

    def collect(self, x: Array) -> Array:
        """x (B, T, D) -> (N, D)"""
        return rows(x) if self.places is None else rows(x)[self.places]
