"""RotaryAttention: attention that rotates queries and keys by their position."""

from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Sequences, Tape
from npbert.layers import DotProductAttention, Rotary


class RotaryAttention(Layer):
    """c = attention(Rotary(q), Rotary(k), v): the `dot_product` of a MultiHeadAttention.

    q (M, D) queries   k (N, D) keys   v (N, D) values   c (M, D)
    attention: a DotProductAttention, or a DistanceAttention.

    A position is the place of a row in its sequence. Layers may share one `rotary`, as it has no parameters.
    (Su et al. 2021, "RoFormer", section 3.2.)

    Raises: as DotProductAttention and Rotary.
    """

    def __init__(self, attention: DotProductAttention, rotary: Rotary) -> None:
        self.attention, self.rotary = attention, rotary

    def forward(self, q: Array, k: Array, v: Array, sequences: Sequences | None = None, tape: Tape = NO_TAPE) -> Array:
        if sequences is None:
            sequences = Sequences([len(k)], [len(q)])
        q = self.rotary(q, sequences.query_positions, tape)
        k = self.rotary(k, sequences.positions, tape)
        return self.attention(q, k, v, sequences, tape)

    def backward(self, dc: Array, tape: Tape) -> tuple[Array, Array, Array]:
        """(dq, dk, dv) of the attention, with dq and dk rotated back."""
        dq, dk, dv = self.attention.backward(dc, tape)
        dk = self.rotary.backward(dk, tape)
        return self.rotary.backward(dq, tape), dk, dv
