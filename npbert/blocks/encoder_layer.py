"""EncoderLayer: attention, then feed-forward, each with dropout, a residual connection and LayerNorm."""

from npbert.blocks.attention import MultiHeadAttention
from npbert.blocks.feed_forward import FeedForward
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Sequences, Tape
from npbert.layers import Dropout, LayerNorm


class EncoderLayer(Layer):
    """h = LayerNorm(x + Dropout(MultiHeadAttention(x, z))),  y = LayerNorm(h + Dropout(FeedForward(h))).

    x (M, D): input of the queries   z (N, D): input of keys and values   y (M, D)
    sequences: which rows belong together; None: all rows are one sequence.
    attention, feed_forward: other parts, in place of BERT's.

    In BERT x is z. Only in the last layer x may have fewer rows: those that a head reads. LayerNorm comes after each
    addition ("post-norm"). (Vaswani et al. 2017, sections 3.1 and 5.4; Devlin et al. 2018, section 3.) Chapters 3 and 6
    of docs/ derive it; in exercise 9 you do.

    Only its parts keep something for backward. With N = 5, D = 8, F = 16 and H = 2, print(tape) after forward shows,
    last entry first,

        output_norm: x_hat (5, 8), sigma (5, 1)
        dropout: shape (5, 8), dtype float32, mask None
        feed_forward.output: x (5, 16)
        feed_forward.activation: slope (5, 16)
        feed_forward.intermediate: x (5, 8)
        attention_norm: x_hat (5, 8), sigma (5, 1)
        dropout: shape (5, 8), dtype float32, mask None
        attention.output: x (5, 8)
        attention.dot_product: q (5, 8), k (5, 8), v (5, 8), pieces [Piece], probabilities [(1, 2, 5, 5)], masks [None]
        attention.value: x (5, 8)
        attention.key: x (5, 8)
        attention.query: x (5, 8)

    Backward takes these from top to bottom. (This tape has no rng, so there is no dropout: the masks are None.)

    Raises: ValueError for an unknown activation, when num_heads does not divide hidden_size, or when x, z and the
    sequences do not fit together; TypeError when a dtype is not that of the weights.
    """

    def __init__(
        self,
        hidden_size: int,
        num_heads: int,
        intermediate_size: int,
        init: Init,
        *,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: str = "gelu",
        layer_norm_eps: float = 1e-12,
        attention: MultiHeadAttention | None = None,
        feed_forward: Layer | None = None,
    ) -> None:
        self.attention = attention or MultiHeadAttention(hidden_size, num_heads, init, dropout=attention_dropout)
        self.attention_norm: Layer = LayerNorm(hidden_size, init, eps=layer_norm_eps)
        self.feed_forward = feed_forward or FeedForward(hidden_size, intermediate_size, init, activation=activation)
        self.output_norm = LayerNorm(hidden_size, init, eps=layer_norm_eps)
        self.dropout = Dropout(dropout)  # used twice; both masks are on the tape

    def forward(self, x: Array, z: Array, sequences: Sequences | None = None, tape: Tape = NO_TAPE) -> Array:
        f = self.attention(x, z, sequences, tape)
        h = self.attention_norm(x + self.dropout(f, tape), tape)

        f = self.feed_forward(h, tape)
        return self.output_norm(h + self.dropout(f, tape), tape)

    def backward(self, dy: Array, tape: Tape) -> tuple[Array, Array]:
        """(dx, dz): the two halves backwards.

        Each half is LayerNorm(s) of s = u + Dropout(f), where the sub-layer computes f from u. A sum passes its
        gradient ds to both sides unchanged. So u has two paths: past the sub-layer, with gradient ds, and through it,
        with the gradient from dropout and the sub-layer. du is the sum of both. In the second half u is h. In the first
        half u is x, the input of the queries alone. The gradient through keys and values is dz; where z is x, as in
        BERT, Encoder.backward adds it.
        """
        ds = self.output_norm.backward(dy, tape)
        df = self.dropout.backward(ds, tape)
        dh = ds + self.feed_forward.backward(df, tape)

        ds = self.attention_norm.backward(dh, tape)
        df = self.dropout.backward(ds, tape)
        dqueries, dz = self.attention.backward(df, tape)
        return ds + dqueries, dz
