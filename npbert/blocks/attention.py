"""MultiHeadAttention: each row gets several weighted means of the values in its sequence."""

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Sequences, Tape
from npbert.layers import DotProductAttention, Linear


class MultiHeadAttention(Layer):
    """y = DotProductAttention(Q, K, V) Wo + bo  with  Q = x Wq + bq,  K = z Wk + bk,  V = z Wv + bv.

    x (M, D): input of the queries   z (N, D): input of keys and values   y (M, D)
    sequences: which rows belong together; None: all rows are one sequence.
    dot_product: the kind of attention: a DotProductAttention with this dropout, unless you give a DistanceAttention or
    a RotaryAttention.

    In self-attention x is z. (Vaswani et al. 2017, sections 3.2.1 and 3.2.2; the biases as in BERT's code.)
    Chapter 6 of docs/ derives it.

    Raises: ValueError when num_heads does not divide hidden_size, or when x, z and the sequences do not fit together;
    TypeError when a dtype is not that of the weights.
    """

    def __init__(
        self,
        hidden_size: int,
        num_heads: int,
        init: Init,
        *,
        dropout: float = 0.0,
        dot_product: Layer | None = None,
    ) -> None:
        if num_heads < 1 or hidden_size % num_heads:
            raise ValueError(f"num_heads is {num_heads}, wanted a divisor of hidden_size, {hidden_size}")
        self.query = Linear(hidden_size, hidden_size, init)
        self.key = Linear(hidden_size, hidden_size, init)
        self.value = Linear(hidden_size, hidden_size, init)
        self.output = Linear(hidden_size, hidden_size, init)
        self.dot_product: Layer = dot_product or DotProductAttention(num_heads, dropout)

    def forward(self, x: Array, z: Array, sequences: Sequences | None = None, tape: Tape = NO_TAPE) -> Array:
        q = self.query(x, tape)
        k = self.key(z, tape)
        v = self.value(z, tape)
        c = self.dot_product(q, k, v, sequences, tape)
        return self.output(c, tape)

    def backward(self, dy: Array, tape: Tape) -> tuple[Array, Array]:
        """(dx, dz): back through the output, the heads and the three projections.

        z is the input of two projections, so dz is the sum of their gradients. (The key bias adds the same number to
        all scores of a query. Softmax ignores that, so its gradient is 0 but for rounding.)
        """
        dc = self.output.backward(dy, tape)
        dq, dk, dv = self.dot_product.backward(dc, tape)
        dz = self.value.backward(dv, tape) + self.key.backward(dk, tape)
        dx = self.query.backward(dq, tape)
        return dx, dz
