"""MaxPooling: one vector for a sequence, the largest value of each feature."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Sequences, Tape
from npbert.layers.checks import check_like


class MaxPooling(Layer):
    """yₛ = the maximum over the rows of sequence s, feature by feature.

    x (N, D)   sequences: which rows belong together   y (B, D)

    (Reimers & Gurevych 2019, "Sentence-BERT", section 3: their MAX strategy.)

    Raises: ValueError when x is not (N, D) for the N rows of the sequences.
    """

    def forward(self, x: Array, sequences: Sequences, tape: Tape = NO_TAPE) -> Array:
        check_like(self, x, (sequences.num_rows, *x.shape[1:]), x.dtype, name="x")
        starts = sequences.offsets[:-1]
        within = np.stack([rows.argmax(axis=0) for rows in np.split(x, starts[1:])])
        largest = within + starts[:, None]  # the row of each (B, D)
        tape.keep(self, largest=largest, shape=x.shape, dtype=x.dtype)
        return np.take_along_axis(x, largest, axis=0)

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx is dy at the largest value, and 0 elsewhere: no other value moves y."""
        largest, shape, dtype = tape.take(self)
        check_like(self, dy, largest.shape, dtype)
        dx = np.zeros(shape, dtype)
        np.put_along_axis(dx, largest, dy, axis=0)
        return dx
