"""Elementwise: the base class of all activations, which map each number separately."""

from npbert.compute import Array, rowwise
from npbert.core import NO_TAPE, Layer, Tape
from npbert.layers.checks import check_floats, check_like


class Elementwise(Layer):
    """y = f(x), for every element.

    x (N, D), or any other shape   y the same

    A subclass has two formulas: `value_and_slope(x)` returns f(x) and f′(x), which often share their most expensive
    part. `value(x)` returns f(x), if that alone is faster. Forward keeps the slope for backward. Chapter 1 of docs/
    derives it.

    Raises: TypeError for an x that is not an array of floats.
    """

    def value(self, x: Array) -> Array:
        """Return f(x), of the shape and dtype of x."""
        return self.value_and_slope(x)[0]

    def value_and_slope(self, x: Array) -> tuple[Array, Array]:
        """Return f(x) and f′(x), both of the shape and dtype of x."""
        raise NotImplementedError(f"{type(self).__name__} needs value_and_slope(x), which returns f(x) and f′(x)")

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        check_floats(self, x)
        if not tape.keeps:
            return rowwise(self.value, x)
        y, slope = rowwise(self.value_and_slope, x)
        tape.keep(self, slope=slope)
        return y

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx = dy · f′(x): each x moves only its own y, f′(x) times as fast."""
        slope = tape.take(self)
        check_like(self, dy, slope.shape, slope.dtype)
        return dy * slope
