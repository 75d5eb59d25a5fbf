"""Draws the gradients and updates of each layer, now or by step, to show vanishing or exploding ones."""

from typing import Any

import numpy as np

from npbert.core import Tape
from npbert.data import Batch
from npbert.io import LAYERS_FILE, FileError, import_extra
from npbert.models import parameters_by_layer
from npbert.plots.drawing import Run, name_places, name_powers, new_panel, rows_of, step_axis, style

_WORDS = {
    "gradient_norms": ("Norm of the gradient by layer", "‖g‖"),
    "update_ratios": ("Update relative to the weights, by layer", "‖Δw‖ / ‖w‖"),
}
"""The title of each picture, and its unit."""


@style()
def plot_layers(run: Run, what: str = "gradient_norms") -> Any:
    """Draw a heat map with a row for each layer, the input at the bottom, and a column for each step. Brighter is more,
    on a logarithmic scale.

    run: the folder of a run, or rows of layers.jsonl. what: gradient_norms, or update_ratios.

    (Extra: plot.) Raises: FileError without numbers to draw; as read_json_lines.
    """
    names, steps, known = layer_numbers(run, what)
    title, unit = _WORDS[what]
    low, high = (float(end) for end in np.percentile(known.compressed().clip(1e-99, 1e99), [2, 100]))
    figure, axes = new_panel(7.5, 1.3 + 0.24 * len(names), title)
    ends = [*steps, steps[-1] + max(1, steps[-1] - steps[-2:][0])]  # the last column is as wide as the one before
    look = {"cmap": "cividis", "norm": "log", "vmin": low, "vmax": max(high, 3 * low), "rasterized": True}
    cells = axes.pcolormesh(ends, range(len(names) + 1), known, **look)
    name_places(axes.yaxis, names, at=0.5)
    step_axis(axes)
    ticks = import_extra("matplotlib.ticker").LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,))
    figure.colorbar(cells, label=unit, ticks=ticks, format="{x:g}").minorticks_off()
    return figure


@style()
def plot_update_ratios(run: Run) -> Any:
    """Draw the size of each update relative to the weights: the median layer as a line, all layers as a band, and the
    rule of thumb, 1e-3, as a dashed line. (Extra: plot.) Raises: as plot_layers."""
    _, steps, known = layer_numbers(run, "update_ratios")
    _, ylabel = _WORDS["update_ratios"]
    figure, axes = new_panel(7.5, 3, "Update relative to the weights", yscale="log", ylabel=ylabel)
    name_powers(axes.yaxis)
    band = {"alpha": 0.25, "linewidth": 0, "label": "range over layers"}
    axes.fill_between(steps, known.min(axis=0), known.max(axis=0), **band)
    marker = "o" if len(steps) == 1 else ""
    middle = np.ma.median(known, axis=0)  # type: ignore[no-untyped-call]  # NumPy's masked arrays have few types
    axes.plot(steps, middle, marker, label="median layer")
    axes.axhline(1e-3, color="C1", linestyle="--", label="rule of thumb: 0.001")
    step_axis(axes)
    figure.legend(loc="outside lower left", ncols=3)
    return figure


@style()
def plot_gradient_flow(model: Any, batch: Batch) -> Any:
    """Draw the gradient in each layer after one backward, with the input at the bottom: the usual size (root mean
    square) of the loss's derivative by a weight, and the largest. If the points move far to the left towards the input,
    the gradient vanishes; to the right, it explodes.

    Without dropout; afterwards the model's gradients are 0. (Extra: plot.) Raises: the errors of the model's loss;
    ValueError if every derivative is 0 or one is not finite.
    """
    tape = Tape()
    model.zero_grad()
    model.loss(batch, tape)
    model.loss_backward(1.0, tape)
    layers = parameters_by_layer(model)
    grads = [np.concatenate([each.grad.ravel() for each in layer.values()]).astype(float) for layer in layers.values()]
    model.zero_grad()
    usual, largest = [np.sqrt(np.mean(grad**2)) for grad in grads], [np.abs(grad).max() for grad in grads]
    if not np.isfinite(largest).all() or not any(largest):
        raise ValueError(f"the largest derivatives are {largest}, wanted numbers to draw")
    height, xlabel = 1.4 + 0.3 * len(layers), "size of ∂loss / ∂weight (logarithmic scale)"
    figure, axes = new_panel(6.5, height, "Gradient by layer", xscale="log", xlabel=xlabel)
    for label, sizes, marker in (("usual", usual, "o"), ("largest", largest, "D")):
        known = np.ma.masked_equal(sizes, 0)  # without a logarithm
        axes.plot(known, range(len(sizes)), marker, linestyle=":", linewidth=1, label=label)
    name_powers(axes.xaxis)
    name_places(axes.yaxis, list(layers))
    axes.legend()
    return figure


def layer_numbers(run: Run, what: str) -> tuple[list[str], list[int], Any]:
    """Return the layers, the steps, and the numbers (layers, steps): a masked array of those with a logarithm.

    Raises: as plot_layers.
    """
    rows = rows_of(run, LAYERS_FILE)
    names = list(dict.fromkeys(name for row in rows for name in row[what]))
    values = np.array([[row[what].get(name) for row in rows] for name in names], float)
    known = np.ma.masked_less_equal(np.ma.masked_invalid(values), 0)
    if known.count() == 0:
        raise FileError(f"{LAYERS_FILE} has no {what} above 0, wanted numbers to draw")
    return names, [row["step"] for row in rows], known
