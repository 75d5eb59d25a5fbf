"""Exercise 10, part one: attention of one head, and what goes wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import Sequences
from npbert.gradcheck import GradientError
from npbert.layers import DotProductAttention
from npbert.layers.softmax import softmax_backward
from npbert.learn.exercise import Mistake, Mistakes, both
from npbert.learn.exercises.attention_steps import (
    ROADS,
    WHY_ROADS,
    Apply,
    Attended,
    Steps,
    ToScores,
    Wrong,
    both_of_them,
    pairs,
    same,
    scales,
    softmaxes,
    turned,
)
from npbert.learn.roads import Roads

P_DROPPED = 0.3
N, H, D, M, T = 2, 3, 5, 7, 11  # sequences, heads, features of a head, queries, keys: no two with a common factor


def _why(shape: tuple[int, ...], x: Array, q: Array) -> str:
    """What a wrong shape is, if it is one that has a name."""
    if shape == turned(x).shape:
        return ": the last two axes are swapped"
    if shape in ((N, H, M, D), (N, H, T, D)):
        return f": that is the shape of {'q' if shape == q.shape else 'k and v'}. The order is dq, dk, dv"
    return ""


def _checked(cls: type[Any], init: Any) -> Any:
    """A layer whose attend_backward is looked at before anything is done with what it returns."""

    def attend_backward(self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None) -> Any:
        found = cls.attend_backward(self, dc, q, k, v, p, mask)
        if not isinstance(found, tuple | list) or len(found) != 3:
            count = len(found) if isinstance(found, tuple | list) else 1
            given = "nothing" if found is None else "one thing" if count == 1 else f"{count} things"
            raise GradientError(f"attend_backward returns {given}, wanted dq, dk and dv")
        for name, dx, x in zip(("dq", "dk", "dv"), found, (q, k, v), strict=True):
            if np.shape(dx) != x.shape:
                raise GradientError(f"{name} has the shape {np.shape(dx)}, wanted {x.shape}{_why(np.shape(dx), x, q)}")
        return found

    return type(cls.__name__, (cls,), {"attend_backward": attend_backward, "__module__": "checked"})(H, P_DROPPED)


ONE_HEAD = Setting(
    DotProductAttention,
    _checked,
    lambda rng: (
        rng.standard_normal((N * M, H * D)),
        rng.standard_normal((N * T, H * D)),
        rng.standard_normal((N * T, H * D)),
        Sequences(np.array([T] * N), np.array([M] * N)),
    ),
)
WRONG = Mistakes(DotProductAttention, "attend_backward")

Changes = Callable[[Attended, Attended], Any]


def _method(steps: Steps, change: Changes) -> Any:
    """attend_backward with these steps: change(the right gradients, those of the steps) is returned."""

    def attend_backward(
        self: DotProductAttention, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
    ) -> Any:
        def apply(x: Array) -> Array:
            return self.dropout.apply(x, mask)

        given = dc, q, k, v, p, self.num_heads, apply
        return change(Steps().of(*given), steps.of(*given))

    return attend_backward


def _inverted(da: Array, apply: Apply) -> Array:
    """As apply, with the other mask."""
    is_kept = apply(np.ones_like(da)) != 0
    return da if is_kept.all() else np.where(is_kept, 0, da / (1 - P_DROPPED))


_DROPPED = (
    "A = Dropout(P): a weight that was dropped had no say, so nothing comes back to it, and what was kept was scaled."
)
_DROPOUTS: tuple[tuple[str, str, str, ToScores], ...] = (
    (
        "dropout_forgotten_in_ds",
        "The dropout of the weights is left out on the way to dQ and dK: dP is self.dropout.apply(dA, mask).",
        _DROPPED,
        lambda da, p, apply: softmax_backward(da, p),
    ),
    (
        "dropout_after_softmax",
        "Dropout is undone after softmax, and should be undone before it: dP is self.dropout.apply(dA, mask).",
        "forward went S, P = softmax(S), A = Dropout(P). Backward goes the other way: from dA through dropout to dP, "
        "and then through softmax to dS.",
        lambda da, p, apply: apply(softmax_backward(da, p)),
    ),
    (
        "dropout_before_and_after_softmax",
        "There is a dropout too many in dS: as if it was undone after softmax once more, or A stood where p belongs.",
        "Dropout stands between dA and dP alone: dS = softmax_backward(self.dropout.apply(dA, mask), p), and p is what "
        "softmax gave. Nothing was dropped from the scores S.",
        lambda da, p, apply: apply(softmax_backward(apply(da), p)),
    ),
    (
        "dropout_undone_twice",
        "Dropout is undone twice on the way to dQ and dK.",
        "dP is self.dropout.apply(dA, mask), once. dA = dC Vᵀ has no dropout in it.",
        lambda da, p, apply: softmax_backward(apply(apply(da)), p),
    ),
    (
        "softmax_of_the_dropped",
        "Softmax is undone with A, the weights after dropout, and should be undone with P: softmax_backward(dP, p).",
        "What softmax gave is p; dropout came afterwards. A is for dV alone.",
        lambda da, p, apply: softmax_backward(apply(da), apply(p)),
    ),
    (
        "mask_inverted",
        "From dA to dP the mask is the wrong way round: what was dropped gets a gradient, and what was kept none.",
        "mask is True where a weight was kept: dP is self.dropout.apply(dA, mask).",
        lambda da, p, apply: softmax_backward(_inverted(da, apply), p),
    ),
    (
        "dropped_in_the_sum",
        "In the sum that is subtracted stands A, the weights after dropout, and should stand P: p · (dP − Σ dP p).",
        "What softmax gave is p; dropout came afterwards. A is for dV alone.",
        lambda da, p, apply: p * (apply(da) - (apply(da) * apply(p)).sum(axis=-1, keepdims=True)),
    ),
    (
        "softmax_of_the_dropped_alone",
        "Softmax is undone with A, the weights after dropout, and the way back through dropout is left out.",
        "dP is self.dropout.apply(dA, mask), and what softmax gave is p: dS = softmax_backward(dP, p). A is for dV.",
        lambda da, p, apply: softmax_backward(da, apply(p)),
    ),
)


def _ways() -> Iterator[Wrong]:
    """Wrong ways back to the scores: through softmax, through dropout, and both."""
    for name, says, because, to_scores in _DROPOUTS:
        yield Wrong(name, says, because, Steps(to_scores=to_scores), both_of_them)
    for each in softmaxes():
        yield each
        undropped = replace(each.steps, to_scores=_without_dropout(each.steps.to_scores))
        says = f"{each.says} And dropout is left out on the way there."
        yield Wrong(f"{each.name}_and_no_dropout", says, f"{each.because} {_DROPPED}", undropped, both_of_them)


def _without_dropout(to_scores: ToScores) -> ToScores:
    return lambda da, p, apply: to_scores(da, p, same)


for each in (*scales(), *_ways()):
    method = _method(each.steps, each.change)
    method.__name__ = each.name
    WRONG(each.says, each.because)(method)


def two_at_once() -> Iterator[Mistake]:
    """A wrong way back to the scores and a wrong scale."""
    known = {mistake.name: mistake for mistake in WRONG}
    for one, other, steps in pairs(_ways()):
        thing = type(
            "two", (DotProductAttention,), {"attend_backward": _method(steps, both_of_them), "__module__": "mistakes"}
        )
        yield both(known[one.name], known[other.name], thing)


@WRONG(
    "dK has the right shape, but the wrong order: Qᵀ dS was reshaped, where it has to be transposed.",
    "Qᵀ dS is the gradient of Kᵀ, with d rows and T columns. A reshape keeps the order in memory and so mixes the "
    "keys up; a transposition swaps the axes. Directly: dK = dSᵀ Q.",
)
def key_gradient_reshaped(self: Any, *given: Any) -> Any:
    return _method(Steps(), lambda right, _: (right.dq, turned(right.dk).reshape(right.dk.shape), right.dv))(
        self, *given
    )


@WRONG(
    "The dropout of the weights is left out in dV: it is Pᵀ dC, and should be Aᵀ dC.",
    "What mixed the values is A = self.dropout.apply(p, mask), so that is what stands in dV.",
)
def dropout_forgotten_in_dv(
    self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
) -> Any:
    return _method(Steps(), lambda right, _: (right.dq, right.dk, turned(p) @ dc))(self, dc, q, k, v, p, mask)


@WRONG(
    "The dropout of the weights is left out altogether: forward mixed the values with A = self.dropout.apply(p, mask).",
    "dV = Aᵀ dC, and on the way to dQ and dK stands dP = self.dropout.apply(dA, mask).",
)
def dropout_forgotten(self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None) -> Any:
    return Steps().of(dc, q, k, v, p, self.num_heads)


@WRONG(
    "1/√d has come into dV, and belongs to dQ and dK alone.",
    "Only the scores were divided by √d. C = A V has no such factor: dV = Aᵀ dC.",
)
def values_scaled(self: Any, *given: Any) -> Any:
    return _method(Steps(), lambda right, _: (right.dq, right.dk, right.dv / np.sqrt(D)))(self, *given)


@WRONG(
    "The three gradients are in the wrong order: dK stands where dV should, and dV where dK should.",
    "backward returns them in the order of forward's inputs: dq, dk, dv.",
)
def keys_and_values_swapped(self: Any, *given: Any) -> Any:
    return _method(Steps(), lambda right, _: (right.dq, right.dv, right.dk))(self, *given)


@WRONG(
    "dK is made with dQ, and should be made with Q: dK = dSᵀ Q/√d.",
    "S = Q Kᵀ/√d. Each factor gets dS times the other factor, and not times its gradient.",
)
def key_gradient_of_query_gradient(
    self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
) -> Any:
    right = Steps().of(dc, q, k, v, p, self.num_heads, lambda x: self.dropout.apply(x, mask))
    ds = softmax_backward(self.dropout.apply(dc @ turned(v), mask), p) / np.sqrt(D)
    return right.dq, turned(ds) @ right.dq, right.dv


ONE_HEADS_ROADS = Roads(
    {
        name: type(
            DotProductAttention.__name__,
            (DotProductAttention,),
            {"attend_backward": _method(steps, lambda _, road: road), "__module__": "mistakes"},
        )
        for name, steps in ROADS.items()
    },
    WHY_ROADS,
    {"the number of features of a head": D, "the number of keys": T, "the number of queries": M},
    {"p of dropout": P_DROPPED},
)
__all__ = ["ONE_HEAD", "ONE_HEADS_ROADS", "WRONG", "Wrong"]
