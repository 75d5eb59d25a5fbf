"""DotProductAttention: each query compares itself with all keys and takes a weighted mean of their values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.layers.blockwise import BLOCK
from npbert.layers.checks import check_mask
from npbert.layers.dropout import Dropout
from npbert.layers.parameter import Array, Cache, Layer
from npbert.layers.softmax import Softmax
from npbert.threads import run, slices

# Added to the score of a padded key (the value in BERT's code). e^(−10⁴) is 0, so beside a real key it gets weight 0.
# Where all keys of a row are padded, softmax ignores what they share: the weights are finite, where −∞ would give NaN.
PADDED_SCORE = -1e4


class DotProductAttention(Layer):
    """C = A V  with  A = Dropout(P),  P = softmax(S),  S = Q Kᵀ/√d + mask, for every head of every sequence by itself.

    q (B, H, R, d): R queries   k, v (B, H, T, d)   attention_mask (B, T), 1 = real, 0 = padding; None for none
    c (B, H, R, d)   rng: where dropout is drawn from; None means evaluation.

    The scores of two vectors with d independent features of variance 1 have variance d: the √d keeps softmax from being
    all but a maximum. (Vaswani et al. 2017, section 3.2.1; mask and dropout as in BERT's code.)

    A few heads at a time, so that their scores stay in the processor's cache from the first product to the last.

    Raises: as check_mask, for a mask that is not (B, T) of 0 and 1.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        self.softmax = Softmax()
        self.dropout = Dropout(dropout)

    def __call__(self, q: Array, k: Array, v: Array, attention_mask: Array | None = None, rng: None = None) -> Array:
        """As forward, but the probabilities of a few heads are dropped before those of the next are made."""
        added = _added_to_scores(attention_mask, k)
        context = _heads_of_rows(q.shape, q.dtype)

        def attend(piece: Any) -> None:
            scores = self._scores(q[piece], k[piece], None if added is None else added[piece[0]])
            context[piece] = self.softmax(scores) @ v[piece]

        _for_all_heads(attend, (*q.shape[:3], k.shape[2]))
        return context

    def forward(
        self, q: Array, k: Array, v: Array, attention_mask: Array | None = None, rng: np.random.Generator | None = None
    ) -> tuple[Array, Cache]:
        added = _added_to_scores(attention_mask, k)
        shape = *q.shape[:3], k.shape[2]  # (B, H, R, T)
        keep = self.dropout.draw(shape, rng)
        context = _heads_of_rows(q.shape, q.dtype)
        p = np.empty(shape, q.dtype)

        def attend(piece: Any) -> None:
            scores = self._scores(q[piece], k[piece], None if added is None else added[piece[0]])
            probabilities, _ = self.softmax.forward(scores)
            p[piece] = probabilities
            weights = self.dropout.apply(probabilities, None if keep is None else keep[piece])
            context[piece] = weights @ v[piece]

        _for_all_heads(attend, shape)
        return context, (q, k, v, p, keep)

    def backward(self, dcontext: Array, cache: Cache) -> tuple[Array, Array, Array]:
        """dV = Aᵀ dC,  dA = dC Vᵀ,  dP and dS by the backwards of dropout and softmax,  dQ = dS K/√d,  dK = dSᵀ Q/√d.

        A product C = A V hands each factor the gradient times the other factor, transposed so that shapes fit. The mask
        is a constant added to S, so it has no gradient.
        """
        q, k, v, p, keep = cache
        dq, dk, dv = (_heads_of_rows(x.shape, x.dtype) for x in (q, k, v))
        scale = self.scale(q)

        def attend_backward(piece: Any) -> None:
            kept = None if keep is None else keep[piece]
            weights = self.dropout.apply(p[piece], kept)
            dv[piece] = weights.swapaxes(-1, -2) @ dcontext[piece]
            dp = self.dropout.backward(dcontext[piece] @ v[piece].swapaxes(-1, -2), kept)
            dscores = self.softmax.backward(dp, p[piece])
            dscores *= scale
            dq[piece] = dscores @ k[piece]
            dk[piece] = dscores.swapaxes(-1, -2) @ q[piece]

        _for_all_heads(attend_backward, p.shape)
        return dq, dk, dv

    def scores(self, q: Array, k: Array, attention_mask: Array | None = None) -> Array:
        """S (B, H, R, T): a row a query, a column a key."""
        return self._scores(q, k, _added_to_scores(attention_mask, k))

    def _scores(self, q: Array, k: Array, added: Array | None) -> Array:
        scores: Array = (q * self.scale(q)) @ k.swapaxes(-1, -2)
        return scores if added is None else scores + added[:, None, None, :]

    @staticmethod
    def scale(q: Array) -> float:
        """1/√d"""
        return 1 / math.sqrt(q.shape[-1])


def _added_to_scores(attention_mask: Array | None, k: Array) -> Array | None:
    """For each key, what is added to its scores (B, T): 0, or PADDED_SCORE where it is padding."""
    if attention_mask is None:
        return None
    check_mask(attention_mask, (k.shape[0], k.shape[2]))
    return np.where(attention_mask == 0, PADDED_SCORE, 0).astype(k.dtype)


def _heads_of_rows(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """A new array (B, H, T, d) whose memory is (B, T, H, d): without a copy, it is one (B, T, D) again."""
    b, h, t, d = shape
    return np.empty((b, t, h, d), dtype).swapaxes(1, 2)


def _for_all_heads(work: Callable[[tuple[slice, slice]], None], shape: tuple[int, ...]) -> None:
    """Call `work` on pieces of the first two axes, (B, H), that together cover them."""
    b, h, *scores = shape
    heads = max(1, BLOCK // max(1, math.prod(scores)))  # in a piece
    per_sequence = slices(h, -(-h // heads))
    sequences = slices(b, -(-b // max(1, heads // h)))
    run(work, [(some, few) for some in sequences for few in per_sequence])
