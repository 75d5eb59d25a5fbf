"""Exercise 10: attention, of one head, then with heads and padding."""

from __future__ import annotations

from npbert.layers import DotProductAttention, dot_product_attention
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import attention_of_one_head as one_head
from npbert.learn.exercises import attention_padded as padded
from npbert.learn.exercises import attention_with_heads as heads
from npbert.learn.exercises import attention_with_padding as padding
from npbert.learn.layers import layer_part
from npbert.learn.source import Blank, class_source, exercise_file, function_source

TEXT = """
Each query compares itself with all keys, S = Q Kᵀ/√d. Softmax makes weights of the scores, P = softmax(S), and the
weights mix the values, C = P V. These are two matrix products with a softmax between them, and you know the backward of
each. Of a product C = A B: dA = dC Bᵀ and dB = Aᵀ dC.

Part one is attend_backward, the formula for M queries and T keys. Its arrays hold many heads at once: the last two axes
are the matrix, and _transposed swaps them. The rest of the class, which is the library's, cuts a batch into heads and
sequences. Part two, PaddedAttention, is the same in a batch with padding; there you split into heads yourself.
"""
BLANK = Blank(
    "attend_backward",
    """Return dq, dk, dv, of the shapes of q, k, v.

    dc, q, dq (…, M, d)   k, v, dk, dv (…, T, d)   p (…, M, T): what softmax gave

    mask is what dropout kept of p: C = A V with A = self.dropout.apply(p, mask), and apply is its own
    backward, too. softmax_backward(dp, p) is there, and _transposed(x), which swaps the last two axes.
    """,
    given=0,
)
HEADS_BLANK = Blank(
    "backward",
    """Return dq, dk, dv (B, T, D).

    dc is (B, T, D); q, k, v are in heads already, (B, H, T, d), and p is (B, H, T, T).
    Split dc as forward split q, compute as in attend_backward (its lines again, without dropout), and merge.
    """,
    given=2,
)
ONE_HEADS_HINTS = (
    "Backwards from C = A V: dV = Aᵀ dC and dA = dC Vᵀ. From A back to P is dropout, self.dropout.apply(dA, mask). "
    "From P back to S is softmax_backward.",
    "S = Q Kᵀ/√d. Q is the left factor: dQ = dS K/√d. K stands transposed on the right: the gradient of Kᵀ is Qᵀ "
    "dS/√d, so dK = dSᵀ Q/√d.",
    "a = apply(p, mask); dv = aᵀ dc; ds = softmax_backward(apply(dc vᵀ, mask), p) / √d; return ds k, dsᵀ q, dv.",
)
HEADS_HINTS = (
    "It is part one once more, without dropout: the weights that mixed the values are p itself. q, k, v and p are in "
    "heads already, (B, H, …, …); dc is not yet.",
    "dc = self.split(dc) makes (B, H, T, d) of (B, T, D). Then the last two axes are the matrices, as in part one, and "
    "x.swapaxes(-1, -2) transposes them. Each of dq, dk, dv is merged at the end. Padding needs nothing: p is 0 there.",
    "dc = self.split(dc); dv = pᵀ dc; ds = softmax_backward(dc vᵀ, p) / √d; return self.merge(ds k), "
    "self.merge(dsᵀ q), self.merge(dv).",
)

EXERCISE = Exercise(
    number=10,
    slug="attention",
    title="attention",
    chapter=chapter(6),
    hints=ONE_HEADS_HINTS,
    hints_of_parts={"PaddedAttention": HEADS_HINTS},
    parts=(
        layer_part(one_head.ONE_HEAD, one_head.WRONG, roads=one_head.ONE_HEADS_ROADS, pairs=one_head.two_at_once),
        layer_part(
            padded.HEADS,
            padding.WRONG,
            recognise=padded.not_merged,
            roads=heads.HEADS_ROADS,
            pairs=heads.two_at_once,
            advise=padded.advise,
        ),
    ),
    source=lambda: exercise_file(
        10,
        "attention",
        chapter(6),
        TEXT,
        [
            class_source(DotProductAttention, BLANK),
            function_source(dot_product_attention._probabilities),
            function_source(dot_product_attention._transposed),
            class_source(padded.PaddedAttention, HEADS_BLANK),
        ],
        uses=["softmax_backward"],
    ),
    blanks=("DotProductAttention.attend_backward", "PaddedAttention.backward"),
)
