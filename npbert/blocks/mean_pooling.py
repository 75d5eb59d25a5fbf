"""MeanPooling: one vector for a sequence, the mean over its tokens."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Sequences, Tape
from npbert.layers.checks import check_like


class MeanPooling(Layer):
    """yₛ = mean of the rows of sequence s; or, with another power p, the sum of its n rows / nᵖ.

    x (N, D)   sequences: which rows belong together   y (B, D)

    (Reimers & Gurevych 2019, "Sentence-BERT", section 3: their MEAN strategy. A power of ½ is `mean_sqrt_len_tokens` in
    sentence-transformers.)

    Raises: ValueError when x is not (N, D) for the N rows of the sequences.
    """

    def __init__(self, power: float = 1.0) -> None:
        self.power = power

    def forward(self, x: Array, sequences: Sequences, tape: Tape = NO_TAPE) -> Array:
        check_like(self, x, (sequences.num_rows, *x.shape[1:]), x.dtype, name="x")
        divisor = sequences.lengths.astype(x.real.dtype)[:, None] ** self.power  # (B, 1)
        tape.keep(self, sequences=sequences, divisor=divisor, features=x.shape[1:])
        return np.add.reduceat(x, sequences.offsets[:-1]) / divisor

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dxₙ = dyₛ / (length of s)ᵖ: each row has the same share in the mean."""
        sequences, divisor, features = tape.take(self)
        check_like(self, dy, (len(divisor), *features), divisor.dtype)
        return np.repeat(dy / divisor, sequences.lengths, axis=0)
