"""Exercise 10: attention, of one head, then with heads and padding."""

from __future__ import annotations

from npbert.layers import DotProductAttention, dot_product_attention
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import attention_of_one_head as one_head
from npbert.learn.exercises import attention_with_heads as heads
from npbert.learn.layers import layer_part
from npbert.learn.source import Blank, class_source, exercise_file, function_source

TEXT = """
Each query compares itself with all keys, S = Q Kᵀ/√d. Softmax makes weights of the scores, P = softmax(S), and the
weights mix the values, C = P V. These are two matrix products with a softmax between them, and you know the backward of
each: a product A B hands A the gradient times Bᵀ, and B the gradient, from the left, times Aᵀ.

Part one, attend_backward, is one head: M queries and T keys. The rest of that class, which is the library's, cuts a
batch into heads and sequences. Part two, PaddedAttention, is the same for several heads, in a batch with padding.
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
    Split dc as forward split q, compute as in attend_backward, without dropout, and merge what comes out.
    """,
    given=2,
)
HINTS = (
    "Backwards from C = A V: dV = Aᵀ dC and dA = dC Vᵀ. From A back to P is dropout, self.dropout.apply(dA, mask). "
    "From P back to S is softmax_backward.",
    "S = Q Kᵀ/√d. Q is the left factor: dQ = dS K/√d. K stands transposed on the right: the gradient of Kᵀ is Qᵀ "
    "dS/√d, so dK = dSᵀ Q/√d.",
    "a = apply(p, mask); dv = aᵀ dc; ds = softmax_backward(apply(dc vᵀ, mask), p) / √d; return ds k, dsᵀ q, dv. With "
    "heads: dc = self.split(dc) first, self.merge(…) around each of the three at the end. Padding needs nothing: p is "
    "0 there.",
)

EXERCISE = Exercise(
    number=10,
    slug="attention",
    title="attention",
    chapter=chapter(6),
    hints=HINTS,
    parts=(
        layer_part(one_head.ONE_HEAD, one_head.WRONG, roads=one_head.ONE_HEADS_ROADS, pairs=one_head.two_at_once),
        layer_part(
            heads.HEADS,
            heads.WRONG,
            recognise=heads.not_merged,
            roads=heads.HEADS_ROADS,
            pairs=heads.two_at_once,
            advise=heads.advise,
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
            class_source(heads.PaddedAttention, HEADS_BLANK),
        ],
        uses=["softmax_backward"],
    ),
    blanks=("DotProductAttention.attend_backward", "PaddedAttention.backward"),
)
