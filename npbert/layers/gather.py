"""Gather: take chosen rows, and leave the others."""

import numpy as np

from npbert.compute import Array, scatter_add
from npbert.core.checks import check_ids
from npbert.core.layer import Layer
from npbert.core.tape import NO_TAPE, Tape
from npbert.layers.checks import check_like


class Gather(Layer):
    """y = x[rows].

    x (N, D)   rows (M,) integers from 0 to N − 1, in any order, some of them twice   y (M, D)

    The masked-LM head reads only the masked words, about 15 % of all, and its product with the vocabulary is the
    largest in the model: taking the rows first saves the other 85 % of that product. Chapter 7 of docs/ derives it.

    Raises: TypeError for rows that are not integers, IndexError for one outside 0 to N − 1.
    """

    def forward(self, x: Array, rows: Array, tape: Tape = NO_TAPE) -> Array:
        check_ids(rows, len(x), name="rows", limit_name="the number of rows")
        tape.keep(self, shape=x.shape, dtype=x.dtype, rows=rows)
        return x[rows]

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx is 0 where nothing was read, and elsewhere the sum of dy over all reads of a row."""
        shape, dtype, rows = tape.take(self)
        check_like(self, dy, (len(rows), *shape[1:]), dtype)
        dx = np.zeros(shape, dtype)
        scatter_add(dx, rows, dy)
        return dx
