"""Loss: the last layer of a model in training, which makes one number of its output and of what was wanted."""

from npbert.compute import Array
from npbert.core.layer import Layer


class Loss(Layer):
    """forward(prediction, target, tape) -> a number; backward(dloss, tape) -> dprediction. A target has no gradient."""

    constant_inputs = ("target",)

    def count_right(self, prediction: Array, target: Array) -> int | None:
        """The number of predictions that are right; None where nothing is right or wrong, as in a regression."""
        return None
