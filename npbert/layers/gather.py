"""Gather: selects rows."""

import numpy as np

from npbert.compute import Array, scatter_add
from npbert.core import NO_TAPE, Layer, Tape, check_ids
from npbert.layers.checks import check_like


class Gather(Layer):
    """y = x[rows].

    x (N, D)   rows (M,) integers from 0 to N − 1, in any order, perhaps repeated   y (M, D)

    The masked-LM head reads only the masked words, about 15 % of all. Its product with the vocabulary is the largest of
    the model, and selecting the rows first saves 85 % of it. Chapter 7 of docs/ derives it.

    Raises: TypeError for rows that are not integers, IndexError for one outside 0 to N − 1.
    """

    def forward(self, x: Array, rows: Array, tape: Tape = NO_TAPE) -> Array:
        check_ids(rows, len(x), name="rows", limit_name="the number of rows")
        tape.keep(self, shape=x.shape, dtype=x.dtype, rows=rows)
        return x[rows]

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx is the sum of dy over all reads of a row, and 0 for a row that is not read."""
        shape, dtype, rows = tape.take(self)
        check_like(self, dy, (len(rows), *shape[1:]), dtype)
        dx = np.zeros(shape, dtype)
        scatter_add(dx, rows, dy)
        return dx
