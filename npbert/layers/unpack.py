"""Unpack: puts rows in their places of a batch, with 0 for padding."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Tape
from npbert.layers.checks import check_like


class Unpack(Layer):
    """y[places] = x, and 0 elsewhere: from packed rows back to the batch.

    x (N, D)   places (N,) distinct integers, indices in the flattened batch   shape (B, T)   y (B, T, D)

    The reverse of `Gather`. It is the last step of a model, for outputs (B, T, …); the other layers have no padding.

    Raises: ValueError unless there is one place for each row.
    """

    def forward(self, x: Array, places: Array, shape: tuple[int, int], tape: Tape = NO_TAPE) -> Array:
        check_like(self, x, (len(places), *x.shape[1:]), x.dtype, name="x")
        y = np.zeros((*shape, x.shape[1]), x.dtype)
        y.reshape(-1, x.shape[1])[places] = x  # a view: this writes into y
        tape.keep(self, places=places, shape=y.shape, dtype=y.dtype)
        return y

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx = dy[places]: each row gets the gradient of its place. Padding does not depend on x."""
        places, shape, dtype = tape.take(self)
        check_like(self, dy, shape, dtype)
        return dy.reshape(-1, dy.shape[-1])[places]
