"""How a gradient gets from the loss back to the first layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.core import Tape
from npbert.data.batch import Batch
from npbert.extras import import_extra
from npbert.models.layers_of import layers_of
from npbert.plots.drawing import BLUE, ORANGE, as_power, name_places, new_figure, style


def plot_gradient_flow(model: Any, batch: Batch) -> Any:
    """The gradient in each layer after one backward, from the input below to the output above: how large the derivative
    of the loss by one weight usually is (the root of the mean of squares), and the largest. Where the points go far to
    the left on the way down, the gradient vanishes; to the right, it explodes.

    The batch has the targets that the model's loss needs. There is no dropout. What gradients the model had are set to
    0. (Extra: plot.) Raises: what the model's loss raises; ValueError when every derivative is 0 or one is not finite.
    """
    tape = Tape()
    model.zero_grad()
    model.loss(batch, tape)
    model.loss_backward(1.0, tape)
    layers = {
        name: np.concatenate([parameter.grad.reshape(-1) for parameter in parameters]).astype(float)
        for name, parameters in layers_of(model).items()
    }
    model.zero_grad()
    usual = [float(np.sqrt(np.mean(grad**2))) for grad in layers.values()]
    largest = [float(np.abs(grad).max()) for grad in layers.values()]
    if not np.isfinite(largest).all() or not any(largest):
        raise ValueError(f"the largest derivatives are {largest}: there is no flow to draw")
    ticker = import_extra("matplotlib.ticker", extra="plot")
    with style():
        figure = new_figure(6.5, 1.2 + 0.3 * len(layers))
        axes = figure.add_subplot()
        for values, color, marker, words in ((usual, BLUE, "o", "usual"), (largest, ORANGE, "D", "largest")):
            places = [place for place, value in enumerate(values) if value > 0]
            axes.plot(
                [values[p] for p in places], places, color=color, marker=marker, linestyle=":", linewidth=1, label=words
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(as_power)
        axes.xaxis.set_minor_formatter(ticker.NullFormatter())
        name_places(axes.yaxis, list(layers))
        axes.set_xlabel("size of ∂loss / ∂weight, on a logarithmic scale")
        axes.grid(alpha=0.3)
        axes.legend()
    return figure
