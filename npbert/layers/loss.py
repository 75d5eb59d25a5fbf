"""Loss: the last layer in training, which computes one number from the output and the target."""

from npbert.compute import Array
from npbert.core import Layer


class Loss(Layer):
    """forward(prediction, target, tape) -> a number; backward(dloss, tape) -> dprediction. A target has no gradient."""

    constant_inputs = ("target",)

    def count_right(self, prediction: Array, target: Array) -> int | None:
        """Return the number of right predictions, or None, as for a regression."""
        return None
