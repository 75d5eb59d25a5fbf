"""UnitLength: scales every row to length 1, so that a dot product is a cosine."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Tape
from npbert.layers.checks import check_floats, check_like


class UnitLength(Layer):
    """y = x / ‖x‖ for each row; a row of zeros stays 0.

    x (N, D), or any other shape whose last axis is D   y the same

    The dot product of two rows of y is the cosine of the angle between the rows of x.

    Raises: TypeError for an x that is not an array of floats.
    """

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        check_floats(self, x)
        length = np.sqrt((x * x).sum(axis=-1, keepdims=True))  # (N, 1)
        length = np.where(length == 0, 1, length)
        y = x / length
        tape.keep(self, y=y, length=length)
        return y

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx = (dy − y (y·dy)) / ‖x‖: without the part of dy along y, as a longer x gives the same y.

        By the quotient rule, ∂yⱼ/∂xᵢ = (1 if i = j) / ‖x‖ − xⱼ (xᵢ / ‖x‖) / ‖x‖², since ∂‖x‖/∂xᵢ = xᵢ / ‖x‖. With
        y = x / ‖x‖ that is ((1 if i = j) − yᵢ yⱼ) / ‖x‖, and dxᵢ = Σⱼ dyⱼ ∂yⱼ/∂xᵢ. A step rotates a short x more than a
        long one, so its gradient is larger. (A row of zeros has no derivative: dx is dy.)
        """
        y, length = tape.take(self)
        check_like(self, dy, y.shape, y.dtype)
        return (dy - y * (y * dy).sum(axis=-1, keepdims=True)) / length
