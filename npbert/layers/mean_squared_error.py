"""MeanSquaredError: the loss of a regression."""

from __future__ import annotations

from typing import Any

from npbert.layers.parameter import Array, Layer


class MeanSquaredError(Layer):
    """loss = mean((prediction − target)²) over all N elements.

    prediction (...)   target (...), the same shape   loss: a scalar

    Raises: ValueError when the shapes differ, or when there are no elements.
    """

    def forward(self, prediction: Array, target: Array) -> tuple[Any, Array]:
        if prediction.shape != target.shape:
            raise ValueError(f"prediction has shape {prediction.shape}, but target {target.shape}")
        if prediction.size == 0:
            raise ValueError(f"prediction and target are empty, of shape {prediction.shape}")
        difference = prediction - target
        return (difference * difference).mean(), difference

    def backward(self, dloss: Array | float, difference: Array) -> tuple[Array, Array]:
        """dprediction = dloss · 2 (prediction − target) / N,  dtarget = −dprediction."""
        dprediction = difference * (2 * dloss / difference.size)
        return dprediction, -dprediction
