"""SinusoidalPositions: the fixed position vectors of the original Transformer."""

from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Init, Tape
from npbert.core.parameter import Fixed
from npbert.layers.embedding import Embedding


class SinusoidalPositions(Embedding):
    """PE(t, 2i) = sin(t / 10000^(2i/D)),  PE(t, 2i + 1) = cos(t / 10000^(2i/D)).

    positions (N,) integers, 0 and up   y (N, D)

    An `Embedding` with a fixed table, which drops its gradient. BERT learns its positions instead. (Vaswani et al.
    2017, section 3.5.)

    Raises: TypeError for positions that are not integers, IndexError for one beyond the table.
    """

    def __init__(self, num_positions: int, features: int, init: Init) -> None:
        table = np.empty((num_positions, features), init.dtype)
        even = np.arange(0, features, 2)
        angles = np.arange(num_positions)[:, None] / 10000 ** (even / features)  # (positions, ⌈D/2⌉)
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles[:, : features // 2])
        self.weight: Any = Fixed(table)

    def backward(self, dy: Array, tape: Tape) -> None:
        """Drop dy: the table is fixed, and integers have no gradient. (Embedding's would refuse exact numbers, as the
        table keeps its floats.)"""
        tape.take(self)
