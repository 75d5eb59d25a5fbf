"""Linear: an affine map of the last axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.checks import check_last_axis
from npbert.layers.parameter import Array, Layer, Parameter, rows
from npbert.layers.product import add_product, product, sum_of_rows


class Linear(Layer):
    """y = x W + b on the last axis.

    x (..., I)   weight W (I, O)   bias b (O,)   y (..., O)

    Row vectors and W (in, out) as in the papers; PyTorch, and so Hugging Face, stores the transpose. W starts as
    normal(0, initializer_range), b as 0.

    Raises: ValueError when the last axis of x is not I.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        rng: np.random.Generator | None,
        initializer_range: float = 0.02,
        dtype: DTypeLike = np.float32,
    ) -> None:
        self.weight = Parameter.normal(
            (in_features, out_features), rng=rng, initializer_range=initializer_range, dtype=dtype
        )
        self.bias = Parameter(np.zeros(out_features, dtype))

    def forward(self, x: Array) -> tuple[Array, Array]:
        check_last_axis(x, len(self.weight.value), name="Linear: x")
        y = product(rows(x), self.weight.value, plus=self.bias.value)
        return y.reshape(*x.shape[:-1], y.shape[-1]), x

    def backward(self, dy: Array, x: Array) -> Array:
        """dW = Σₙ xₙᵀ dyₙ,  db = Σₙ dyₙ,  dx = dy Wᵀ.

        W and b serve every row n, so they collect from every row. xᵢ goes into every output o with weight Wᵢₒ, so it
        collects from every output with that same weight.
        """
        add_product(self.weight, rows(x).T, rows(dy))
        self.bias.grad += sum_of_rows(dy)
        return product(rows(dy), self.weight.value.T).reshape(x.shape)
