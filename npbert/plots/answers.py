"""Predictions and true values: labels as a confusion matrix, numbers as points."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.plots import drawing
from npbert.plots.drawing import BLUE, INK, name_places, new_panel, style

_MOST_WITH_COUNTS = 16


@style()
def plot_confusion(labels: Sequence[str], counts: Any) -> Any:
    """Draw a confusion matrix: a row for each true label, a column for each predicted one, with the number of examples.
    Darker is a larger share of the row; right predictions are on the diagonal. counts (C, C).

    (Extra: plot.) Raises: ValueError for counts of another shape.
    """
    table, size = np.array(counts, float), len(labels)
    if table.shape != (size, size):
        raise ValueError(f"counts has shape {table.shape}, wanted a row and a column for each of {size} labels")
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    width, height = max(3.4, 1.8 + 0.42 * size), max(2.6, 1.5 + 0.36 * size)
    figure, axes = new_panel(width, height, "Confusion matrix", xlabel="predicted label", ylabel="true label")
    image = axes.imshow(shares, drawing.shares(), vmin=0, vmax=1, interpolation="none", zorder=1)
    name_places(axes.xaxis, labels, upright=max(map(len, labels)) > 4)
    name_places(axes.yaxis, labels)
    for place in np.ndindex(table.shape) if size <= _MOST_WITH_COUNTS else ():
        color = "#ffffff" if shares[place] > 0.4 else INK
        axes.text(place[1], place[0], f"{table[place]:,.0f}", ha="center", va="center", color=color)
    figure.colorbar(image, ax=axes, label="share of the row")
    return figure


@style()
def plot_predictions(pairs: Sequence[Sequence[float]]) -> Any:
    """Draw a point for each example: the true value on the x axis, the prediction on the y axis, and a line where both
    are equal. pairs (N, 2), at least one of them finite.

    (Extra: plot.) Raises: ValueError without a finite pair."""
    true, said = np.array(pairs, float).reshape(-1, 2).T
    names = {"xlabel": "true value (units of the file)", "ylabel": "predicted value (units of the file)"}
    figure, axes = new_panel(3.8, 3.6, "Predictions and true values", **names)
    axes.scatter(true, said, s=14, color=BLUE, alpha=0.5, linewidths=0)
    ends = [float(np.nanmin([true, said])), float(np.nanmax([true, said]))]
    axes.plot(ends, ends, color=INK, linewidth=1, linestyle="--", label="prediction = truth")
    axes.legend()
    return figure
