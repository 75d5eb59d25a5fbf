"""Attention and encoder layers gone wrong."""

import copy

import numpy as np

from npbert.blocks import Encoder, EncoderLayer
from npbert.core import NO_TAPE, Tape
from npbert.layers import DotProductAttention
from npbert.layers.softmax import softmax_backward
from tests.planted import checks, fails, plant

in_attention = plant("MultiHeadAttention", part="dot_product", method="attend_backward")
in_dot_product = plant("DotProductAttention", method="attend_backward")


@plant("EncoderLayer", says="right")
class TwoRoads(EncoderLayer):
    """The derivative once more, with the two roads of each residual connection in the hands of a twin."""

    def roads(self, ds, tape):
        """What goes past the sub-layer, and what goes through it."""
        return ds, self.dropout.backward(ds, tape)

    def backward(self, dy, tape):
        past, through = self.roads(self.output_norm.backward(dy, tape), tape)
        dh = past + self.feed_forward.backward(through, tape)
        past, through = self.roads(self.attention_norm.backward(dh, tape), tape)
        dx, dz = self.attention.backward(through, tape)
        return past + dx, dz


class Wrong:
    """Each of these methods takes the place of the right one, alone."""

    @in_attention
    def scores_not_transposed(self, dc, q, k, v, p, keep=None):
        """dK = dS Q: as scores are (T, T), the shapes fit without the transposition."""
        dq, _, dv = DotProductAttention.attend_backward(self, dc, q, k, v, p, keep)
        dscores = softmax_backward(self.dropout.apply(dc @ v.swapaxes(-1, -2), keep), p)
        return dq, dscores @ q / np.sqrt(q.shape[-1]), dv

    @in_dot_product
    def averaged_over_the_piece(self, dc, q, k, v, p, keep=None):
        """The gradient of softmax is divided by the leading axis, which is 1 for a sequence by itself."""
        dq, dk, dv = DotProductAttention.attend_backward(self, dc, q, k, v, p, keep)
        return dq / len(p), dk / len(p), dv

    @in_attention
    def query_taken_for_key(self, dc, q, k, *others):
        """dQ is made from Q and dK from K."""
        return DotProductAttention.attend_backward(self, dc, k, q, *others)

    @in_attention
    def key_taken_for_value(self, dc, q, k, v, *others):
        """dA is made from K and dQ from V."""
        return DotProductAttention.attend_backward(self, dc, q, v, k, *others)

    @in_dot_product
    def kept_of_the_first_head(self, dc, q, k, v, p, keep=None):
        """Backward has, for every head of a piece, what dropout kept in the first."""
        return DotProductAttention.attend_backward(self, dc, q, k, v, p, np.broadcast_to(keep[:1, :1], keep.shape))

    @plant("DotProductAttention")
    def rows_mixed_up_in_backward(self, dc, tape):
        """Going back, every key stands at the place beside its own."""
        dq, dk, dv = DotProductAttention.backward(self, dc, tape)
        return dq, np.roll(dk, 1, axis=0), dv

    @fails(checks.sequences_do_not_see_each_other, DotProductAttention, method="forward")
    def looks_across_sequences(self, q, k, v, sequences=None, tape=NO_TAPE):
        """All rows are one sequence, whatever it is told: its derivative is right."""
        return DotProductAttention.forward(self, q, k, v, None, tape)

    @fails(checks.sequences_do_not_see_each_other, DotProductAttention, method="forward")
    def looks_at_the_other_sequence(self, q, k, v, sequences=None, tape=NO_TAPE):
        """The pad mask inverted, in rows: each sequence sees what it should not, and not itself."""
        k, v = (np.roll(z, len(z) // 2, axis=0) for z in (k, v))
        return DotProductAttention.forward(self, q, k, v, sequences, tape)

    @plant("MultiHeadAttention")
    @plant("EncoderLayer", part="attention")
    def keys_never_learn(self, dy, tape):
        """z went into two projections, and dz comes back from one of them."""
        dq, dk, dv = self.dot_product.backward(self.output.backward(dy, tape), tape)
        dz = self.value.backward(dv, tape)
        self.key.backward(dk, tape)
        return self.query.backward(dq, tape), dz

    @plant("MultiHeadAttention", says="on top of the tape is what another Linear")
    def taken_in_the_order_of_forward(self, dy, tape):
        """The query was the first to keep something, and is the first to take it."""
        dq, dk, dv = self.dot_product.backward(self.output.backward(dy, tape), tape)
        dx = self.query.backward(dq, tape)
        return dx, self.key.backward(dk, tape) + self.value.backward(dv, tape)

    @plant("Checkpointed", method="forward")
    def other_dropout_the_second_time(self, *inputs, tape=NO_TAPE):
        """The state of the generator is kept after forward has drawn from it."""
        y = self.layer.forward(*inputs, tape=Tape(tape.rng, keeps=False))
        tape.keep(self, inputs, copy.deepcopy(tape.rng))
        return y

    @plant("Encoder", method="forward", says="another y without a tape")
    def one_sequence_in_evaluation(self, x, sequences=None, read=None, tape=NO_TAPE):
        """Without a tape, all rows look at all others."""
        return Encoder.forward(self, x, sequences if tape.keeps or tape.rng else None, read, tape)

    @fails(checks.rows_are_those_of_the_whole, Encoder, method="forward")
    def row_beside_is_read(self, x, sequences=None, read=None, tape=NO_TAPE):
        """Forward and backward agree on rows that are not those that were asked for."""
        return Encoder.forward(self, x, sequences, None if read is None else np.maximum(read - 1, 0), tape)

    @plant("EncoderLayer, some rows look", right=TwoRoads, method="roads")
    def residual_lost(self, ds, tape):
        """What looks learns through attention only, not past it."""
        return 0, self.dropout.backward(ds, tape)

    @plant("EncoderLayer", right=TwoRoads, method="roads")
    def residual_is_dropped_too(self, ds, tape):
        """The road past the sub-layer gets the gradient of the road through it."""
        df = self.dropout.backward(ds, tape)
        return df, df

    @plant("EncoderLayer", right=TwoRoads, method="roads")
    def sublayer_is_not_dropped(self, ds, tape):
        """The road through the sub-layer gets the gradient of the road past it."""
        self.dropout.backward(ds, tape)
        return ds, ds
