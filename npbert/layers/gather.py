"""Gather: take chosen positions out of a batch of sequences."""

from __future__ import annotations

import numpy as np

from npbert.layers.checks import check_ids
from npbert.layers.parameter import Array, Layer, rows
from npbert.layers.scatter import add_rows


class Gather(Layer):
    """y = rows(x)[positions]: the vectors at `positions` of the flattened batch.

    x (B, T, D)   positions (M,) integers from 0 to B·T − 1   y (M, D)

    The masked-LM head reads only the masked positions, about 15 % of all, and its product with the vocabulary is the
    largest in the model: taking the rows first saves the other 85 % of that product.

    Raises: TypeError for positions that are not integers, IndexError for one outside 0 to B·T − 1.
    """

    def forward(self, x: Array, positions: Array) -> tuple[Array, tuple[tuple[int, ...], Array]]:
        check_ids(positions, len(rows(x)), name="positions", limit_name="the number of rows")
        return rows(x)[positions], (x.shape, positions)

    def backward(self, dy: Array, cache: tuple[tuple[int, ...], Array]) -> Array:
        """dx is 0 where nothing was read, and the sum of dy over all reads of a row elsewhere."""
        shape, positions = cache
        dx = np.zeros(shape, dy.dtype)
        add_rows(rows(dx), positions, dy)
        return dx
