"""PreNormEncoderLayer: the encoder layer with each LayerNorm before its sub-layer."""

from npbert.blocks.encoder_layer import EncoderLayer
from npbert.compute import Array
from npbert.core import NO_TAPE, Sequences, Tape


class PreNormEncoderLayer(EncoderLayer):
    """h = x + Dropout(MultiHeadAttention(n(x), n(z))),  y = h + Dropout(FeedForward(n′(h))),  n and n′ LayerNorms.

    x (M, D), z (N, D), sequences and parts: as in EncoderLayer. n is `attention_norm`, n′ is `output_norm`.

    The path past the sub-layers has no LayerNorm, so a gradient passes all layers unchanged, and each layer adds to it.
    In a post-norm BERT every LayerNorm divides it by σ. That is why pre-norm models can be deep and need less warm-up.
    (Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", section 3; ModernBERT: Warner et al.
    2024, section 2.1.) Chapter 11 of docs/ derives it.
    """

    def forward(self, x: Array, z: Array, sequences: Sequences | None = None, tape: Tape = NO_TAPE) -> Array:
        f = self.attention(self.attention_norm(x, tape), self.attention_norm(z, tape), sequences, tape)
        h = x + self.dropout(f, tape)

        f = self.feed_forward(self.output_norm(h, tape), tape)
        return h + self.dropout(f, tape)

    def backward(self, dy: Array, tape: Tape) -> tuple[Array, Array]:
        """(dx, dz): each half is u + Dropout(f(n(u))), so du is dy itself, plus the gradient through f and n."""
        df = self.dropout.backward(dy, tape)
        dh = dy + self.output_norm.backward(self.feed_forward.backward(df, tape), tape)

        df = self.dropout.backward(dh, tape)
        dqueries, dkeys = self.attention.backward(df, tape)
        dz = self.attention_norm.backward(dkeys, tape)
        return dh + self.attention_norm.backward(dqueries, tape), dz
