"""Exercise 10, part two: what goes wrong with the products, and with the order of what is returned."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.layers.softmax import softmax_backward
from npbert.learn.exercises.attention_padded import D, PaddedAttention
from npbert.learn.exercises.attention_steps import Attended
from npbert.learn.exercises.attention_with_heads import WRONG


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

__all__ = ["WRONG"]
