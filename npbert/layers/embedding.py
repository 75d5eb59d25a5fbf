"""Embedding: a table whose rows are looked up by id."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.checks import check_ids
from npbert.layers.parameter import Array, Layer, Parameter
from npbert.layers.scatter import add_rows


class Embedding(Layer):
    """y = W[ids].

    ids (...) integers   weight W (R, D)   y (..., D)

    The same as multiplying one-hot rows by W, without the multiplication. W starts as normal(0, initializer_range).

    Raises: TypeError for ids that are not integers, IndexError for an id outside 0 to R − 1.
    """

    def __init__(
        self,
        rows: int,
        features: int,
        *,
        rng: np.random.Generator | None,
        initializer_range: float = 0.02,
        dtype: DTypeLike = np.float32,
    ) -> None:
        self.weight = Parameter.normal((rows, features), rng=rng, initializer_range=initializer_range, dtype=dtype)

    def forward(self, ids: Array) -> tuple[Array, Array]:
        check_ids(ids, len(self.weight.value), name="ids", limit_name="the number of rows")
        return self.weight.value[ids], ids

    def backward(self, dy: Array, ids: Array) -> None:
        """dW[r] = Σ dyₙ over all n with idsₙ = r: a row that was read n times collects n gradients.

        The ids have no gradient.
        """
        add_rows(self.weight.grad, ids, dy)
