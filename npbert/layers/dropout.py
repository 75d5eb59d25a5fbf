"""Dropout: in training, sets every number to 0 with probability p."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Tape
from npbert.layers.checks import check_floats, check_like


class Dropout(Layer):
    """y = x · mask / (1 − p), where each element of the mask is 1 with probability 1 − p, and otherwise 0.

    x (N, D), or any other shape   y the same

    The mask is drawn from `tape.rng`, anew in each forward, and kept for backward. Without an rng, as in evaluation, y
    is x. With the factor 1/(1 − p) the expected value of y is x, so evaluation needs no scaling. (Srivastava et al.
    2014, section 10, where p is the probability to keep.) Chapter 7 of docs/ derives it; in exercise 8 you do.

    Raises: ValueError unless 0 ≤ p < 1; TypeError for an x that is not an array of floats.
    """

    def __init__(self, p: float) -> None:
        if not 0 <= p < 1:
            raise ValueError(f"dropout probability p is {p}, wanted 0 ≤ p < 1")
        self.p = p

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        check_floats(self, x)
        mask = self.draw(x.shape, tape.rng)
        tape.keep(self, shape=x.shape, dtype=x.dtype, mask=mask)
        return self.apply(x, mask)

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx = dy · mask / (1 − p): a dropped element does not move the loss, and a kept one is scaled."""
        shape, dtype, mask = tape.take(self)
        check_like(self, dy, shape, dtype)
        return self.apply(dy, mask)

    def apply(self, x: Array, mask: Array | None) -> Array:
        """Return x · mask / (1 − p), or x itself without a mask. (Attention calls `draw` and `apply`, and keeps the
        masks itself.)"""
        return x if mask is None else x * (1 / (1 - self.p)) * mask

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator | None) -> Array | None:
        """Return a mask of this shape, True where x is kept; None: no dropout.

        It draws 16 random bits an element, which is twice as fast as a random float. So p is rounded to a multiple of
        2⁻¹⁶: for p ≤ ½, the expected value is x up to 2 parts in 100,000. The mask does not depend on the dtype.
        """
        if rng is None or self.p == 0:
            return None
        return rng.integers(2**16, size=shape, dtype=np.uint16) >= round(self.p * 2**16)
