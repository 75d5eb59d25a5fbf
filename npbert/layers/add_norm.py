"""AddNorm: what a sub-layer found is added to what it was given, and the sum is normalised."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.blockwise import blockwise
from npbert.layers.dropout import Dropout
from npbert.layers.layer_norm import LayerNorm
from npbert.layers.parameter import Array, Cache


class AddNorm(LayerNorm):
    """y = LayerNorm(x + Dropout(f)), where f is what a sub-layer made of x.

    x (..., D)   f (..., D)   y (..., D)   rng: where dropout is drawn from; None means evaluation.

    "Add & Norm" around each sub-layer of an encoder layer: one pass over memory in place of three. (Vaswani et al.
    2017, sections 3.1 and 5.4.)

    Raises: as LayerNorm and Dropout.
    """

    def __init__(
        self, features: int, *, dropout: float = 0.0, eps: float = 1e-12, dtype: DTypeLike = np.float32
    ) -> None:
        super().__init__(features, eps=eps, dtype=dtype)
        self.dropout = Dropout(dropout)

    def __call__(self, x: Array, f: Array, rng: None = None) -> Array:  # type: ignore[override]
        """As forward, but what backward needs is not put together."""
        y: Array = blockwise(lambda x, f: self.normalize(x + f)[0], x, f)
        return y

    def forward(  # type: ignore[override]
        self, x: Array, f: Array, rng: np.random.Generator | None = None
    ) -> tuple[Array, Cache]:
        keep = self.dropout.draw(f.shape, rng)

        def add_and_normalize(x: Array, f: Array, keep: Array | None = None) -> tuple[Array, Array, Array]:
            return self.normalize(x + self.dropout.apply(f, keep))

        y, x_hat, sigma = blockwise(add_and_normalize, x, f, *_if_any(keep))
        return y, (x_hat, sigma, keep)

    def backward(self, dy: Array, cache: Cache) -> tuple[Array, Array]:  # type: ignore[override]
        """dx = ds  and  df = Dropout.backward(ds)  with  s = x + Dropout(f) and its gradient ds from LayerNorm.

        An addition hands its gradient to both sides unchanged: without dropout, dx and df are one array.
        """
        x_hat, sigma, keep = cache
        self.add_gradients(dy, x_hat)

        def ds_and_df(dy: Array, x_hat: Array, sigma: Array, keep: Array | None = None) -> tuple[Array, Array]:
            ds = self.dx(dy, x_hat, sigma)
            return ds, self.dropout.backward(ds, keep)

        dx, df = blockwise(ds_and_df, dy, x_hat, sigma, *_if_any(keep))
        return dx, df


def _if_any(array: Array | None) -> tuple[Array, ...]:
    return () if array is None else (array,)
