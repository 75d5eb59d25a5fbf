"""Exercise 10, part two: attention of several heads in a batch with padding, and what goes wrong with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Tape
from npbert.layers.softmax import softmax, softmax_backward
from npbert.learn.attempt import Failure
from npbert.learn.exercise import Finding, Mistake, Mistakes, both
from npbert.learn.exercises.attention_steps import (
    ROADS,
    WHY_ROADS,
    Attended,
    Steps,
    both_of_them,
    pairs,
    scales,
    softmaxes,
)
from npbert.learn.numbers import Numbers
from npbert.learn.roads import Roads


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
WRONG = Mistakes(PaddedAttention, "backward")
Changes = Callable[[Attended, Attended], Any]


def in_heads(layer: PaddedAttention, dc: Array, tape: Tape, steps: Steps | None = None) -> Attended:
    """In heads."""
    q, k, v, p = tape.take(layer)
    return (steps or Steps()).of(layer.split(dc), q, k, v, p, layer.num_heads)


def _method(steps: Steps, change: Changes) -> Any:
    """backward with these steps: change(the right gradients in heads, those of the steps), merged."""

    def backward(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
        q, k, v, p = tape.take(self)
        given = self.split(dc), q, k, v, p, self.num_heads
        return tuple(map(self.merge, change(Steps().of(*given), steps.of(*given))))

    return backward


for each in (*scales(), *softmaxes()):
    if not each.name.startswith("scale_queries"):  # there are as many queries as keys
        method = _method(each.steps, each.change)
        method.__name__ = each.name
        WRONG(each.says, each.because)(method)


@WRONG(
    "The heads were merged by a reshape alone: the axes of heads and tokens were not swapped back.",
    "forward swapped them, (B, T, H, d) -> (B, H, T, d). A reshape of (B, H, T, d) to (B, T, D) fits, and puts the "
    "numbers at other tokens. self.merge swaps first.",
)
def heads_reshaped(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    return tuple(dx.reshape(dc.shape) for dx in in_heads(self, dc, tape))


@WRONG(
    "dc was split into heads by a reshape alone: the axes of tokens and heads were not swapped.",
    "dc.reshape(B, H, T, d) fits, and gives each head the numbers of other tokens. self.split makes (B, T, H, d) "
    "first and swaps the two middle axes.",
)
def dc_reshaped(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    q, k, v, p = tape.take(self)
    return tuple(map(self.merge, Steps().of(dc.reshape(q.shape), q, k, v, p, H)))


@WRONG(
    "The mean over the heads was taken, but each head has its own features.",
    "The heads stand side by side in the D features. Each gets its own part of dc, and gives back its own part of dq, "
    "dk and dv: nothing is averaged.",
)
def heads_averaged(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
    return tuple(self.merge(dx / self.num_heads) for dx in in_heads(self, dc, tape))


def two_at_once() -> Iterator[Mistake]:
    """A wrong way back through softmax and a wrong scale."""
    known = {mistake.name: mistake for mistake in WRONG}
    for one, other, steps in pairs(softmaxes()):
        if other.name in known:
            yield both(
                known[one.name],
                known[other.name],
                type("two", (PaddedAttention,), {"backward": _method(steps, both_of_them), "__module__": "mistakes"}),
            )


def _product_wrong(name: str, says: str, because: str, change: Callable[..., Any]) -> None:
    """A known mistake: change(right, p, dc, ds) is what is merged."""

    def backward(self: PaddedAttention, dc: Array, tape: Tape) -> Any:
        q, k, v, p = tape.take(self)
        dc = self.split(dc)
        ds = softmax_backward(dc @ v.swapaxes(-1, -2), p) / math.sqrt(q.shape[-1])
        right = Attended(ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ dc)
        return tuple(map(self.merge, change(right, q, k, p, dc, ds)))

    backward.__name__ = name
    WRONG(says, because)(backward)


_SQUARE = "As there are as many queries as keys here, the shapes fit either way."
_product_wrong(
    "weights_not_transposed",
    "dV is P dC, and should be Pᵀ dC: p was not transposed.",
    f"A row of p is a query, a column is a key. A value collects from all queries that looked at it. {_SQUARE}",
    lambda right, q, k, p, dc, ds: (right.dq, right.dk, p @ dc),
)
_product_wrong(
    "scores_not_transposed",
    "dK is dS Q/√d, and should be dSᵀ Q/√d: ds was not transposed.",
    f"A row of dS is a query, a column is a key. A key collects from all queries that looked at it. {_SQUARE}",
    lambda right, q, k, p, dc, ds: (right.dq, ds @ q, right.dv),
)
_product_wrong(
    "scores_transposed",
    "dQ is dSᵀ K/√d, and should be dS K/√d: ds was transposed, and should not be.",
    f"A row of dS is a query, a column is a key. A query collects from all keys that it looked at. {_SQUARE}",
    lambda right, q, k, p, dc, ds: (ds.swapaxes(-1, -2) @ k, right.dk, right.dv),
)
_product_wrong(
    "key_gradient_reshaped",
    "dK has the right shape, but the wrong order: Qᵀ dS was reshaped, where it has to be transposed.",
    "Qᵀ dS is the gradient of Kᵀ, with d rows and T columns. Directly: dK = dSᵀ Q/√d.",
    lambda right, q, k, p, dc, ds: (right.dq, right.dk.swapaxes(-1, -2).reshape(right.dk.shape), right.dv),
)
_product_wrong(
    "keys_and_queries_swapped",
    "dQ is made with Q, and dK with K: each factor gets the gradient times the other one.",
    "S = Q Kᵀ/√d, so dQ = dS K/√d and dK = dSᵀ Q/√d.",
    lambda right, q, k, p, dc, ds: (ds @ q, ds.swapaxes(-1, -2) @ k, right.dv),
)


_product_wrong(
    "key_gradient_of_query_gradient",
    "dK is made with dQ, and should be made with Q: dK = dSᵀ Q/√d.",
    "S = Q Kᵀ/√d. Each factor gets dS times the other factor, and not times its gradient.",
    lambda right, q, k, p, dc, ds: (right.dq, ds.swapaxes(-1, -2) @ right.dq, right.dv),
)
_ORDER = "backward returns the gradients in the order of forward's inputs: dq, dk, dv."
_product_wrong(
    "queries_and_keys_exchanged",
    "The gradients are in the wrong order: dK stands where dQ should, and dQ where dK should.",
    _ORDER,
    lambda right, *_: (right.dk, right.dq, right.dv),
)
_product_wrong(
    "keys_and_values_exchanged",
    "The gradients are in the wrong order: dK stands where dV should, and dV where dK should.",
    _ORDER,
    lambda right, *_: (right.dq, right.dv, right.dk),
)
_product_wrong(
    "queries_and_values_exchanged",
    "The gradients are in the wrong order: dV stands where dQ should, and dQ where dV should.",
    _ORDER,
    lambda right, *_: (right.dv, right.dk, right.dq),
)
_product_wrong(
    "values_first",
    "The gradients are in the wrong order: they come as dv, dq, dk.",
    _ORDER,
    lambda right, *_: (right.dv, right.dq, right.dk),
)
_product_wrong(
    "values_scaled",
    "1/√d has come into dV, and belongs to dQ and dK alone.",
    "Only the scores were divided by √d. C = P V has no such factor: dV = Pᵀ dC.",
    lambda right, *_: (right.dq, right.dk, right.dv / np.sqrt(D)),
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


HEADS_ROADS = Roads(
    {
        name: type(
            PaddedAttention.__name__,
            (PaddedAttention,),
            {"backward": _method(steps, lambda _, road: road), "__module__": "mistakes"},
        )
        for name, steps in ROADS.items()
    },
    WHY_ROADS,
    {"the number of features of a head": D, "the number of tokens": T, "the number of heads": H},
)
