"""Exercise 10, part two: attention of several heads in a batch with padding, and what goes wrong with it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Tape
from npbert.layers.softmax import softmax, softmax_backward
from npbert.learn.exercise import Mistakes
from npbert.learn.exercises.attention_of_one_head import attend_in_another_way


class PaddedAttention(Layer):
    """C = P V with P = softmax(Q Kᵀ/√d), for each head of each sequence; nobody looks at padding.

    q, k, v (B, T, D)   mask (B, T): 1 for a token, 0 for padding   c (B, T, D)

    The D features are cut into H heads of d = D / H each. A score of a key that is padding is set to −∞ before softmax,
    so its probability is 0. (npbert itself computes no padding at all; this is how it is done elsewhere.)
    """

    def __init__(self, num_heads: int) -> None:
        self.num_heads = num_heads

    def forward(self, q: Array, k: Array, v: Array, mask: Array, tape: Tape = NO_TAPE) -> Array:
        q, k, v = (self.split(x) for x in (q, k, v))  # (B, H, T, d)
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])  # (B, H, T, T): a row is a query, a column a key
        p = softmax(np.where(mask[:, None, None, :] == 1, scores, -np.inf))
        tape.keep(self, q, k, v, p)
        return self.merge(p @ v)

    def backward(self, dc: Array, tape: Tape) -> tuple[Array, Array, Array]:
        """As attend_backward, head by head: split what comes in, merge what goes out."""
        q, k, v, p = tape.take(self)
        if dc.shape != (len(q), q.shape[2], q.shape[1] * q.shape[3]):
            raise ValueError(f"dc is {dc.shape}")
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


HEADS = Setting(
    PaddedAttention,
    lambda cls, init: cls(2),
    lambda rng: (*(rng.standard_normal((3, 5, 6)) for _ in "qkv"), np.array([[1] * 5, [1, 1, 0, 0, 0], [1] * 4 + [0]])),
)
WRONG = Mistakes(PaddedAttention, "backward")


def _heads(layer: PaddedAttention, dc: Array, tape: Tape, **changes: Any) -> list[Array]:
    q, k, v, p = tape.take(layer)
    return [*attend_in_another_way(layer.split(dc), q, k, v, p, **changes)[:3]]


@WRONG(
    "The heads were merged by a reshape alone: the axes of heads and tokens were not swapped back.",
    "forward swapped them, (B, T, H, d) -> (B, H, T, d). A reshape of (B, H, T, d) to (B, T, D) fits, and puts the "
    "numbers at other tokens. self.merge swaps first.",
)
def heads_reshaped(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    return tuple(dx.reshape(dc.shape) for dx in _heads(self, dc, tape))


@WRONG(
    "dc was split into heads by a reshape alone: the axes of tokens and heads were not swapped.",
    "dc.reshape(B, H, T, d) fits, and gives each head the numbers of other tokens. self.split makes (B, T, H, d) "
    "first and swaps the two middle axes.",
)
def dc_reshaped(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    q, k, v, p = tape.take(self)
    return tuple(map(self.merge, attend_in_another_way(dc.reshape(q.shape), q, k, v, p)[:3]))


@WRONG(
    "dQ and dK are divided by √D, with all features, and should be divided by √d, with those of a head.",
    "Each head compares vectors of d = D/H features: the √d of forward is math.sqrt(q.shape[-1]), of q in heads.",
)
def scale_of_all_heads(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    return tuple(map(self.merge, _heads(self, dc, tape, scale=1 / math.sqrt(dc.shape[-1]))))


@WRONG(
    "1/√d is missing in dQ and dK.",
    "S = Q Kᵀ/√d: every score was divided by √d, so what comes back from it is, too.",
)
def scale_forgotten_with_heads(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    return tuple(map(self.merge, _heads(self, dc, tape, scale=1.0)))


@WRONG(
    "What comes back from queries that are padding was set to 0, but forward computed them like all others.",
    "The mask is for keys: nobody looks at padding, so p is 0 there. A query that is padding still gets a c, and "
    "where dc is not 0, it has a gradient. It is for the loss to give padding a dc of 0.",
)
def padded_queries_stopped(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    q, k, v, p = tape.take(self)
    is_key = p.sum(axis=(1, 2), keepdims=True) > 0  # (B, 1, 1, T)
    return tuple(map(self.merge, attend_in_another_way(self.split(dc) * is_key.swapaxes(-1, -2), q, k, v, p)[:3]))


@WRONG(
    "Padding gets a gradient: softmax was undone as if a padded key had a weight of its own.",
    "The score of a padded key is −∞ and its p is 0. Multiplied by p, everything that comes back to it is 0: "
    "dS = p · (dP − Σ dP p). Without the factor p the padding learns, too.",
)
def padding_learns(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    return tuple(map(self.merge, _heads(self, dc, tape, to_s=lambda dp, p: dp - (dp * p).sum(axis=-1, keepdims=True))))


@WRONG(
    "The mean over the heads was taken, but each head has its own features.",
    "The heads stand side by side in the D features. Each gets its own part of dc, and gives back its own part of dq, "
    "dk and dv: nothing is averaged.",
)
def heads_averaged(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    return tuple(self.merge(dx / self.num_heads) for dx in _heads(self, dc, tape))
