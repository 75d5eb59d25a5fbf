"""MeanSquaredError: the loss of a regression."""

from npbert.compute import Array
from npbert.core import NO_TAPE, Tape
from npbert.layers.loss import Loss


class MeanSquaredError(Loss):
    """loss = mean((prediction − target)²) over all elements.

    prediction (N, D), or any other shape   target the same   loss: a number

    Raises: ValueError if the shapes differ, or without elements.
    """

    def forward(self, prediction: Array, target: Array, tape: Tape = NO_TAPE) -> float:
        if prediction.shape != target.shape:
            raise ValueError(f"target has shape {target.shape}, wanted {prediction.shape}, as prediction")
        if prediction.size == 0:
            raise ValueError(f"prediction has shape {prediction.shape}, wanted at least one number")
        difference = prediction - target
        tape.keep(self, difference=difference)
        return (difference * difference).mean()

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dprediction = dloss · 2 (prediction − target) / size: the slope of each square, and its share in the mean."""
        difference = tape.take(self)
        return difference * (2 * float(dloss) / difference.size)
