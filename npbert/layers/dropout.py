"""Dropout: while training, every number is set to 0 with probability p."""

from __future__ import annotations

import numpy as np

from npbert.layers.parameter import Array, Layer


class Dropout(Layer):
    """y = x · keep / (1 − p), where each element of keep is 1 with probability 1 − p and else 0.

    x (...)   y (...)   rng: where keep is drawn from; None means evaluation, and then y = x.

    The factor 1/(1 − p) leaves the expected value of y equal to x, so nothing needs to be scaled in evaluation.
    (Srivastava et al. 2014, section 10, where p is the probability to keep.)

    Raises: ValueError unless 0 ≤ p < 1.
    """

    def __init__(self, p: float) -> None:
        if not 0 <= p < 1:
            raise ValueError(f"dropout probability p is {p}, wanted 0 ≤ p < 1")
        self.p = p

    def forward(self, x: Array, rng: np.random.Generator | None = None) -> tuple[Array, Array | None]:
        if rng is None or self.p == 0:
            return x, None
        keep = rng.random(x.shape, np.float32) >= self.p  # float32 for every x: each dtype drops the same
        return x * keep * (1 / (1 - self.p)), keep

    def backward(self, dy: Array, keep: Array | None) -> Array:
        """dx = dy · keep / (1 − p): what was dropped had no say in the loss, what was kept was scaled."""
        if keep is None:
            return dy
        return dy * keep * (1 / (1 - self.p))
