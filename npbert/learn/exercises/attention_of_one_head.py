"""Exercise 10, part one: attention of one head, and what goes wrong with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import Sequences
from npbert.layers import DotProductAttention
from npbert.layers.softmax import softmax_backward
from npbert.learn.exercise import Mistakes

ONE_HEAD = Setting(
    DotProductAttention,
    lambda cls, init: cls(1, 0.3),
    lambda rng: (
        rng.standard_normal((5, 3)),
        rng.standard_normal((7, 3)),
        rng.standard_normal((7, 3)),
        Sequences(np.array([7]), np.array([5])),
    ),
)
WRONG = Mistakes(DotProductAttention, "attend_backward")

Changes = Callable[..., Any]


def attend_in_another_way(
    dc: Array,
    q: Array,
    k: Array,
    v: Array,
    p: Array,
    apply: Changes = lambda x: x,
    *,
    to_s: Changes = softmax_backward,
    scale: float | None = None,
) -> tuple[Array, Array, Array, Array]:
    """dq, dk, dv and ds, with another backward of softmax or another scale."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    ds = to_s(apply(dc @ v.swapaxes(-1, -2)), p) * scale
    return ds @ k, ds.swapaxes(-1, -2) @ q, apply(p).swapaxes(-1, -2) @ dc, ds


def _of(layer: DotProductAttention, mask: Array | None) -> Changes:
    return lambda x: layer.dropout.apply(x, mask)


@WRONG(
    "1/√d is missing in dQ and dK.",
    "S = Q Kᵀ/√d: every score was divided by √d, so what comes back from it is, too.",
)
def scale_forgotten(self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None) -> Any:
    return attend_in_another_way(dc, q, k, v, p, _of(self, mask), scale=1.0)[:3]


@WRONG(
    "1/√d is missing in dQ; dK has it.",
    "It divides the whole product Q Kᵀ, so it stands in the gradients of both factors.",
)
def queries_left_unscaled(
    self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
) -> Any:
    dq, dk, dv, _ = attend_in_another_way(dc, q, k, v, p, _of(self, mask))
    return dq * math.sqrt(q.shape[-1]), dk, dv


@WRONG(
    "1/√d is missing in dK; dQ has it.",
    "It divides the whole product Q Kᵀ, so it stands in the gradients of both factors.",
)
def scale_forgotten_in_dk(
    self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
) -> Any:
    dq, dk, dv, _ = attend_in_another_way(dc, q, k, v, p, _of(self, mask))
    return dq, dk * math.sqrt(q.shape[-1]), dv


@WRONG(
    "dQ and dK are divided by d, and should be divided by √d.",
    "forward divided the scores by √d, the square root of the number of features of a head.",
)
def divided_by_d(self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None) -> Any:
    return attend_in_another_way(dc, q, k, v, p, _of(self, mask), scale=1 / q.shape[-1])[:3]


@WRONG(
    "dK has the right shape, but the wrong order: Qᵀ dS was reshaped, where it has to be transposed.",
    "Qᵀ dS is the gradient of Kᵀ, with d rows and T columns. A reshape keeps the order in memory and so mixes the "
    "keys up; a transposition swaps the axes. Directly: dK = dSᵀ Q.",
)
def key_gradient_reshaped(
    self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
) -> Any:
    dq, dk, dv, _ = attend_in_another_way(dc, q, k, v, p, _of(self, mask))
    return dq, dk.swapaxes(-1, -2).reshape(dk.shape), dv


@WRONG(
    "The derivative of softmax is left out: dS is dP itself.",
    "Between the scores and the weights stands softmax. dS = softmax_backward(dP, p), which is p · (dP − Σ dP p), row "
    "by row.",
)
def softmax_left_out(self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None) -> Any:
    return attend_in_another_way(dc, q, k, v, p, _of(self, mask), to_s=lambda dp, p: dp)[:3]


@WRONG(
    "dS is p · dP: the sum over the row was not subtracted.",
    "Raising one score takes from all other weights of its query. dS = p · (dP − Σ dP p) with the sum along the row, "
    "which is softmax_backward(dP, p).",
)
def softmax_cut_short(self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None) -> Any:
    return attend_in_another_way(dc, q, k, v, p, _of(self, mask), to_s=lambda dp, p: dp * p)[:3]


@WRONG(
    "dS is p (1 − p) · dP, which is the diagonal alone of the derivative of softmax.",
    "Raising one score takes from all other weights of its query. dS = p · (dP − Σ dP p) with the sum along the row, "
    "which is softmax_backward(dP, p).",
)
def softmax_diagonal(self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None) -> Any:
    return attend_in_another_way(dc, q, k, v, p, _of(self, mask), to_s=lambda dp, p: dp * p * (1 - p))[:3]


@WRONG(
    "Softmax is undone down the columns, over the queries: each row, over the keys, is a distribution.",
    "p (…, M, T) adds up to 1 along its last axis. softmax_backward sums along that axis.",
)
def softmax_over_the_queries(
    self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
) -> Any:
    return attend_in_another_way(
        dc, q, k, v, p, _of(self, mask), to_s=lambda dp, p: p * (dp - (dp * p).sum(axis=-2, keepdims=True))
    )[:3]


@WRONG(
    "The dropout of the weights is left out in dV: it is Pᵀ dC, and should be Aᵀ dC.",
    "What mixed the values is A = self.dropout.apply(p, mask), so that is what stands in dV.",
)
def dropout_forgotten_in_dv(
    self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
) -> Any:
    dq, dk, _, _ = attend_in_another_way(dc, q, k, v, p, _of(self, mask))
    return dq, dk, p.swapaxes(-1, -2) @ dc


@WRONG(
    "The dropout of the weights is left out on the way to dQ and dK: dP is self.dropout.apply(dA, mask).",
    "A = Dropout(P): a weight that was dropped had no say, so nothing comes back to it, and what was kept was scaled.",
)
def dropout_forgotten_in_ds(
    self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
) -> Any:
    dq, dk, _, _ = attend_in_another_way(dc, q, k, v, p)
    return dq, dk, attend_in_another_way(dc, q, k, v, p, _of(self, mask))[2]


@WRONG(
    "The dropout of the weights is left out altogether: forward mixed the values with A = self.dropout.apply(p, mask).",
    "dV = Aᵀ dC, and on the way to dQ and dK stands dP = self.dropout.apply(dA, mask).",
)
def dropout_forgotten(self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None) -> Any:
    return attend_in_another_way(dc, q, k, v, p)[:3]


@WRONG(
    "The three gradients are in the wrong order: dK stands where dV should, and dV where dK should.",
    "backward returns them in the order of forward's inputs: dq, dk, dv.",
)
def keys_and_values_swapped(
    self: Any, dc: Array, q: Array, k: Array, v: Array, p: Array, mask: Array | None = None
) -> Any:
    dq, dk, dv, _ = attend_in_another_way(dc, q, k, v, p, _of(self, mask))
    return dq, dv, dk
