"""SinusoidalPositions: the fixed position vectors of the original Transformer."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape, check_ids


class SinusoidalPositions(Layer):
    """PE(t, 2i) = sin(t / 10000^(2i/D)),  PE(t, 2i + 1) = cos(t / 10000^(2i/D)).

    positions (N,) integers, 0 and up   y (N, D)

    It works like an `Embedding` with a fixed table. BERT learns its positions instead. (Vaswani et al. 2017, section
    3.5.)

    Raises: TypeError for positions that are not integers, IndexError for one beyond the table.
    """

    def __init__(self, num_positions: int, features: int, init: Init) -> None:
        self.table = np.empty((num_positions, features), init.dtype)
        even = np.arange(0, features, 2)
        angles = np.arange(num_positions)[:, None] / 10000 ** (even / features)  # (positions, ⌈D/2⌉)
        self.table[:, 0::2] = np.sin(angles)
        self.table[:, 1::2] = np.cos(angles[:, : features // 2])

    def forward(self, positions: Array, tape: Tape = NO_TAPE) -> Array:
        check_ids(positions, len(self.table), name="positions", limit_name="the number of positions")
        return self.table[positions]

    def backward(self, dy: Array, tape: Tape) -> None:
        """Do nothing: it has no parameters, and integers have no gradient."""
