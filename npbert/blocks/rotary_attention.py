"""RotaryAttention: multi-head attention that rotates queries and keys by their position."""

import numpy as np

from npbert.blocks.attention import MultiHeadAttention
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Sequences, Tape
from npbert.layers import DotProductAttention, Rotary


class RotaryAttention(MultiHeadAttention):
    """MultiHeadAttention with  Q = Rotary(x Wq + bq),  K = Rotary(z Wk + bk)  in place of Q and K.

    A position is the place of a row in its sequence. Layers may share one `rotary`, as it has no parameters.
    (Su et al. 2021, "RoFormer", section 3.2.)

    Raises: as MultiHeadAttention and Rotary.
    """

    def __init__(
        self,
        hidden_size: int,
        num_heads: int,
        init: Init,
        *,
        rotary: Rotary,
        dropout: float = 0.0,
        dot_product: DotProductAttention | None = None,
    ) -> None:
        super().__init__(hidden_size, num_heads, init, dropout=dropout, dot_product=dot_product)
        self.rotary = rotary

    def forward(self, x: Array, z: Array, sequences: Sequences | None = None, tape: Tape = NO_TAPE) -> Array:
        if sequences is None:
            sequences = Sequences(np.array([len(z)]), np.array([len(x)]))
        q = self.rotary(self.query(x, tape), sequences.query_positions, tape)
        k = self.rotary(self.key(z, tape), sequences.positions, tape)
        v = self.value(z, tape)
        c = self.dot_product(q, k, v, sequences, tape)
        return self.output(c, tape)

    def backward(self, dy: Array, tape: Tape) -> tuple[Array, Array]:
        """(dx, dz) as in MultiHeadAttention, with dq and dk rotated back before the projections."""
        dc = self.output.backward(dy, tape)
        dq, dk, dv = self.dot_product.backward(dc, tape)
        dz = self.value.backward(dv, tape) + self.key.backward(self.rotary.backward(dk, tape), tape)
        dx = self.query.backward(self.rotary.backward(dq, tape), tape)
        return dx, dz
