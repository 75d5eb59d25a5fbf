"""Exercise 10: attention, of one head, then with heads and padding."""

import math

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Tape
from npbert.layers.checks import check_like
from npbert.layers.softmax import softmax, softmax_backward
from npbert.learn.layer import LayerBlank, layer_blank


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


def with_heads(heads: int, d: int, lengths: tuple[int, ...]) -> Setting:
    """Return the setting of sequences of these lengths, padded to the longest, with heads of d features."""
    shapes = [(len(lengths), max(lengths), heads * d)] * 3
    mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]) * 1
    return Setting(PaddedAttention, lambda cls, init: cls(heads), [*shapes, mask])


OF_ONE_HEAD = layer_blank("DotProductAttention", method="attend_backward")
WITH_HEADS = LayerBlank(
    right=PaddedAttention,
    settings=(with_heads(2, 3, (7, 2, 6, 7, 4)), with_heads(5, 2, (4, 11, 7))),
)
