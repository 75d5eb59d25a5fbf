"""Exercise 10, part two: attention of several heads in a batch with padding, and where the code of it stops."""

from __future__ import annotations

import math

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Tape
from npbert.layers.softmax import softmax, softmax_backward
from npbert.learn.attempt import Failure
from npbert.learn.exercise import Finding
from npbert.learn.numbers import Numbers


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


N, H, D, T = 5, 2, 3, 7  # sequences, heads, features of a head, tokens: no two with a common factor
LENGTHS = np.array([7, 2, 6, 7, 4])

HEADS = Setting(
    PaddedAttention,
    lambda cls, init: cls(H),
    lambda rng: (*(rng.standard_normal((N, T, H * D)) for _ in "qkv"), (np.arange(T) < LENGTHS[:, None]) * 1),
)

_OF_PART_ONE = ("attend_backward", "attend", "dropout")


def not_merged(given: Numbers, right: Numbers) -> Finding | None:
    """Whether a gradient is still in heads."""
    for name in ("dq", "dk", "dv"):
        if name in given and given[name].shape == (N, H, T, D):
            says = f"{name} is still in heads, {(N, H, T, D)}, and should be {(N, T, H * D)}."
            return Finding(says, f"self.merge({name}) puts the heads side by side again: (B, H, T, d) -> (B, T, D).")
    return None


def advise(failure: Failure) -> str:
    """Where the code stops: whether part one is called, or dc is still in one piece."""
    if failure.kind == "AttributeError" and any(f"attribute '{name}'" in failure.message for name in _OF_PART_ONE):
        return (
            "That belongs to DotProductAttention, part one. Write its lines again here, without dropout: p is what "
            "mixed the values."
        )
    is_whole = (
        failure.kind == "ValueError"
        and f"dc {(N, T, H * D)}" in failure.shapes
        and f"q {(N, H, T, D)}" in failure.shapes
    )
    return "dc is (B, T, D) there, and q, k, v are in heads, (B, H, T, d): self.split(dc) first." if is_whole else ""
