"""SinusoidalPositions: fixed vectors that tell positions apart, as the original Transformer has them."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.checks import check_ids
from npbert.layers.parameter import Array, Layer


class SinusoidalPositions(Layer):
    """PE(t, 2i) = sin(t / 10000^(2i/D)),  PE(t, 2i + 1) = cos(t / 10000^(2i/D)).

    positions (...) integers from 0 to R − 1   y (..., D)

    Used like an `Embedding` whose table is fixed. BERT learns its positions instead. (Vaswani et al. 2017,
    section 3.5.)

    Raises: TypeError for positions that are not integers, IndexError for one outside 0 to R − 1.
    """

    def __init__(self, rows: int, features: int, *, dtype: DTypeLike = np.float32) -> None:
        even = np.arange(0, features, 2)
        angles = np.arange(rows)[:, None] / 10000 ** (even / features)  # (R, ⌈D/2⌉)
        table = np.empty((rows, features), dtype)
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles[:, : features // 2])
        self.table = table

    def forward(self, positions: Array) -> tuple[Array, None]:
        check_ids(positions, len(self.table), name="positions", limit_name="the number of positions")
        return self.table[positions], None

    def backward(self, dy: Array, cache: None) -> None:
        """Nothing is learned, and integers have no gradient."""
