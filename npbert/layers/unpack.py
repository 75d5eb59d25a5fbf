"""Unpack: rows go to their places in a batch, and padding is 0."""

import numpy as np

from npbert.compute import Array
from npbert.core.layer import Layer
from npbert.core.tape import NO_TAPE, Tape
from npbert.layers.checks import check_like


class Unpack(Layer):
    """y[places] = x, and 0 elsewhere: from packed rows to the batch that they came from.

    x (N, D)   places (N,) integers, each once: where in the flattened batch   shape (B, T)   y (B, T, D)

    The reverse of `Gather`, which takes rows from their places. Models end with it, so that those who use them find
    (B, T, …) again; nothing before it knows of padding.

    Raises: ValueError when there is not one place for each row.
    """

    def forward(self, x: Array, places: Array, shape: tuple[int, int], tape: Tape = NO_TAPE) -> Array:
        check_like(self, x, (len(places), *x.shape[1:]), x.dtype, name="x")
        y = np.zeros((*shape, x.shape[1]), x.dtype)
        y.reshape(-1, x.shape[1])[places] = x  # a view: this writes into y
        tape.keep(self, places=places, shape=y.shape, dtype=y.dtype)
        return y

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx = dy[places]: each row gets what came back to its place. Padding is 0 whatever x is, and moves nothing."""
        places, shape, dtype = tape.take(self)
        check_like(self, dy, shape, dtype)
        dx: Array = dy.reshape(-1, dy.shape[-1])[places]
        return dx
