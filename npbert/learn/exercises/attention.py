"""Exercise 10: attention, of one head, then with heads and padding."""

import math

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Sequences, Tape
from npbert.layers import DotProductAttention
from npbert.layers.checks import check_like
from npbert.layers.softmax import softmax, softmax_backward
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part

TEXT = """
Each query is compared with all keys, S = Q Kᵀ/√d. Softmax turns the scores into weights, P = softmax(S), and the
weights mix the values, C = P V. These are two matrix products with a softmax between them, and you know the backward of
each. Of a product C = A B: dA = dC Bᵀ and dB = Aᵀ dC.

Part one is attend_backward, the formula for R queries and T keys. Its arrays have many heads: the last two axes are the
matrix, and x.swapaxes(-1, -2) transposes it. The rest of the class, from the library, cuts a batch into heads and
sequences. Part two, PaddedAttention, is the same in a batch with padding; there you split into heads yourself.
"""
ASKED = """
Return dq, dk, dv, of the shapes of q, k, v.

dc, q, dq (…, R, d)   k, v, dk, dv (…, T, d)   p (…, R, T): what softmax gave

Dropout (chapter 7) sets some elements of p to 0; mask marks those it kept. C = A V with
A = self.dropout.apply(p, mask), and apply is also its own backward. You can call softmax_backward(dp, p).
x.swapaxes(-1, -2) swaps the last two axes.
"""
ASKED_WITH_HEADS = """
Return dq, dk, dv (B, T, D).

dc is (B, T, D); q, k, v are in heads already, (B, H, T, d), and p is (B, H, T, T).
Split dc as forward split q, compute as in attend_backward (its lines again, without dropout), and merge.
"""
HINTS = """
Backwards from C = A V: dV = Aᵀ dC and dA = dC Vᵀ. From A back to P is dropout, self.dropout.apply(dA, mask). From P
back to S is softmax_backward.

S = Q Kᵀ/√d. Q is the left factor: dQ = dS K/√d. K is on the right and transposed: the gradient of Kᵀ is Qᵀ dS/√d, so
dK = dSᵀ Q/√d.

a = apply(p, mask); dv = aᵀ dc; ds = softmax_backward(apply(dc vᵀ, mask), p) / √d; return ds k, dsᵀ q, dv.
"""
HINTS_WITH_HEADS = """
It is part one again, without dropout: p mixes the values. q, k, v and p are already split into heads, (B, H, …, …), but
dc is not.

dc = self.split(dc) turns (B, T, D) into (B, H, T, d). Then the last two axes are the matrices, as in part one, and
x.swapaxes(-1, -2) transposes them. Merge each of dq, dk, dv at the end. Padding needs no extra step: p is 0 there.

dc = self.split(dc); dv = pᵀ dc; ds = softmax_backward(dc vᵀ, p) / √d; return self.merge(ds k), self.merge(dsᵀ q),
self.merge(dv).
"""
PLAIN = """
def attend_backward(self, dc, q, k, v, p, mask=None):
    a = self.dropout.apply(p, mask)
    dv = a.swapaxes(-1, -2) @ dc
    da = dc @ v.swapaxes(-1, -2)
    dp = self.dropout.apply(da, mask)
    weighted = dp * p
    dot = weighted.sum(axis=-1, keepdims=True)
    ds = p * (dp - dot)
    scale = 1 / math.sqrt(q.shape[-1])
    ds = scale * ds
    dq = ds @ k
    dk = ds.swapaxes(-1, -2) @ q
    return dq, dk, dv
"""
PLAIN_WITH_HEADS = """
def backward(self, dc, tape):
    q, k, v, p = tape.take(self)
    dc = self.split(dc)
    dv = p.swapaxes(-1, -2) @ dc
    dp = dc @ v.swapaxes(-1, -2)
    weighted = dp * p
    dot = weighted.sum(axis=-1, keepdims=True)
    ds = p * (dp - dot)
    scale = 1 / math.sqrt(q.shape[-1])
    ds = scale * ds
    dq = ds @ k
    dk = ds.swapaxes(-1, -2) @ q
    return self.merge(dq), self.merge(dk), self.merge(dv)
"""
SCORES = """
A higher score raises its own weight and lowers all others in the row of its query, so the backward of softmax works row
by row. Forward divides the scores by √d, with d the features of one head.
""".strip().replace("\n", " ")
REASONS = {
    "dq": "A query moves the scores of its row, one for each key. The speed of each is the key, over √d.",
    "dk": "A key moves a column of scores, one for each query. The speed of each is the query, over √d. The "
    "gradients from the queries add up.",
    "dv": "A value is mixed into the c of every query, with its weight in p after dropout. The gradients from the "
    "queries add up. Scores do not depend on it.",
    "dk, dq": "Both come from dS. To get it, go back to the weights that mixed the values, through dropout "
    f"with the mask that forward drew, through softmax. {SCORES}",
}
REASONS_WITH_HEADS = {
    "dq": f"{REASONS['dq']} A query that is padding is computed like all others, and p is 0 for a key that is padding.",
    "dk": REASONS["dk"],
    "dv": "A value is mixed into the c of every query of its sequence, head by head, with the weight p. The "
    "gradients from the queries add up.",
    "dk, dq": "Both come from dS. To get it, go back to the weights that mixed the values, then through "
    f"softmax. {SCORES} Padding needs no extra step: p is 0 there.",
    "dk, dq, dv": "Work head by head, as in forward: split the input, merge the outputs, and return the "
    "gradients in the order of forward's inputs.",
}
ADVICE = {
    "AttributeError: .*attribute '(attend_backward|attend|dropout)'": "That belongs to DotProductAttention, part one. "
    "Write its lines again here, without dropout: p is what mixed the values.",
    r"ValueError.*\n.*\n(?=.*\bdc \((\d+, ){2}\d+\))(?=.*\bq \((\d+, ){3}\d+\))": "dc is (B, T, D) there, and q, k, v "
    "are in heads, (B, H, T, d): self.split(dc) first.",
}


class PaddedAttention(Layer):
    """C = P V with P = softmax(Q Kᵀ/√d), for each head of each sequence; padding gets no weight.

    q, k, v (B, T, D)   mask (B, T): 1 for a token, 0 for padding   c (B, T, D)

    The D features are cut into H heads of d = D / H each. A score of a key that is padding is set to −∞ before softmax,
    so its probability is 0. (npbert computes no padding; other libraries do it in this way.)
    """

    def __init__(self, num_heads: int) -> None:
        self.num_heads = num_heads

    def forward(self, q: Array, k: Array, v: Array, mask: Array, tape: Tape = NO_TAPE) -> Array:
        q, k, v = (self.split(x) for x in (q, k, v))  # (B, H, T, d)
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])  # (B, H, T, T): a row is a query, a column a key
        p = softmax(np.where(mask[:, None, None, :] == 1, scores, -np.inf))
        tape.keep(self, q=q, k=k, v=v, p=p)
        return self.merge(p @ v)

    def backward(self, dc: Array, tape: Tape) -> tuple[Array, Array, Array]:
        """As attend_backward, head by head: split dc, merge the gradients."""
        q, k, v, p = tape.take(self)
        check_like(self, dc, (len(q), q.shape[2], q.shape[1] * q.shape[3]), q.dtype, name="dc")
        dc = self.split(dc)
        dv = p.swapaxes(-1, -2) @ dc
        ds = softmax_backward(dc @ v.swapaxes(-1, -2), p) / math.sqrt(q.shape[-1])
        return self.merge(ds @ k), self.merge(ds.swapaxes(-1, -2) @ q), self.merge(dv)

    def split(self, x: Array) -> Array:
        """(B, T, D) -> (B, T, H, d) -> (B, H, T, d)"""
        return x.reshape(*x.shape[:2], self.num_heads, -1).swapaxes(1, 2)

    def merge(self, x: Array) -> Array:
        """(B, H, T, d) -> (B, T, H, d) -> (B, T, D)"""
        return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def one_head(n: int, heads: int, d: int, m: int, t: int) -> Setting:
    """Return the setting of n sequences of m queries and t keys, with heads of d features, and dropout of the
    weights."""
    shapes = [(n * length, heads * d) for length in (m, t, t)]
    return Setting(
        DotProductAttention,
        lambda cls, init: cls(heads, 0.3),
        lambda rng: (*map(rng.standard_normal, shapes), Sequences(np.array([t] * n), np.array([m] * n))),
    )


def with_heads(heads: int, d: int, lengths: tuple[int, ...]) -> Setting:
    """Return the setting of sequences of these lengths, padded to the longest, with heads of d features."""
    shapes = [(len(lengths), max(lengths), heads * d)] * 3
    mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]) * 1
    return Setting(PaddedAttention, lambda cls, init: cls(heads), lambda rng: (*map(rng.standard_normal, shapes), mask))


OF_ONE_HEAD = layer_part(
    one_head(2, 3, 5, 7, 11),
    one_head(3, 2, 7, 11, 5),
    method="attend_backward",
    returns={"dq": 2, "dk": 3, "dv": 4},
    given=0,
    drops=True,
    asked=ASKED,
    plain=PLAIN,
    reasons=REASONS,
)
WITH_HEADS = layer_part(
    with_heads(2, 3, (7, 2, 6, 7, 4)),
    with_heads(5, 2, (4, 11, 7)),
    asked=ASKED_WITH_HEADS,
    plain=PLAIN_WITH_HEADS,
    reasons=REASONS_WITH_HEADS,
    advice=ADVICE,
)
EXERCISE = Exercise(
    "attention",
    CHAPTERS[6],
    TEXT,
    HINTS,
    (OF_ONE_HEAD, WITH_HEADS),
    hints_of_parts={"PaddedAttention": HINTS_WITH_HEADS},
    uses=("math", "softmax_backward"),
)
