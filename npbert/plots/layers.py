"""The gradients and updates of each layer, now or step after step: what vanishes or explodes is seen."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.data.batch import Batch
from npbert.io.extras import import_extra
from npbert.io.files import FileError
from npbert.io.json_lines import LAYERS_FILE
from npbert.models import parameters_by_layer
from npbert.plots import drawing

_COLUMNS = 240
_WORDS = {"gradient_norms": "‖g‖", "update_ratios": "‖Δw‖ / ‖w‖"}


@drawing.style()
def plot_layers(run: drawing.Run, what: str = "gradient_norms") -> Any:
    """A heat map: a row a layer, from the input below to the output above, and a column a step; brighter is more, each
    shade so many times more than the one before it.

    run: the folder of a run, or its rows, as layers.jsonl has them. what: gradient_norms, or update_ratios.
    (Extra: plot.) Raises: FileError when there is nothing to draw yet; what read_json_lines raises.
    """
    names, steps, values = layer_numbers(run, what)
    colors = import_extra("matplotlib.colors", extra="plot")
    logs = np.ma.log10(np.ma.masked_invalid(values))  # 0 has none
    if logs.count() == 0:
        raise FileError(f"{_WORDS[what]} is 0 or not known in every layer: there is nothing to draw")
    width, height = 7.5, 1.0 + 0.24 * len(names)
    figure = drawing.new_figure(width, height)
    figure.set_layout_engine("none")  # so that pictures of the same layers are of the same width
    left = 0.25 + 0.08 * max(len(drawing.label(name)) for name in names)
    low_edge, high_edge = 0.6 / height, 1 - 0.85 / height
    axes = figure.add_axes((left / width, low_edge, 1 - (left + 1.35) / width, high_edge))
    low, high = (float(end) for end in np.percentile(logs.compressed(), [2, 100]))
    scale = colors.Normalize(low, max(high, low + 0.5))
    how = {"origin": "lower", "interpolation": "none", "extent": (0.5, len(steps) + 0.5, -0.5, len(names) - 0.5)}
    image = axes.imshow(logs, drawing.MAGNITUDES, scale, aspect="auto", **how)
    drawing.name_places(axes.yaxis, names)
    ticks = _round_steps(steps)
    axes.set_xticks(np.interp(ticks, steps, np.arange(1, len(steps) + 1)), [f"{step:,}" for step in ticks])
    axes.set_xlabel("step")
    bar = figure.colorbar(image, cax=figure.add_axes((1 - 1.15 / width, low_edge, 0.18 / width, high_edge)))
    bar.set_label(_WORDS[what])
    shades = _shades(scale.vmin, scale.vmax)
    bar.set_ticks(list(shades), labels=list(shades.values()))
    return figure


@drawing.style()
def plot_update_ratios(run: drawing.Run) -> Any:
    """The size of each update beside that of the weights: the middle layer as a line, all of them as a band,
    and the rule of thumb, 1e-3, as a dashed line. (Extra: plot.) Raises: as plot_layers."""
    _, steps, values = layer_numbers(run, "update_ratios")
    known = np.ma.masked_less_equal(np.ma.masked_invalid(values), 0)
    moved = known.count(axis=0) > 0
    if not moved.any():
        raise FileError("no step moved any weight: there is nothing to draw")
    known, x = known[:, moved], np.array(steps)[moved]
    figure, axes = drawing.new_panel(7.5, 2.8)
    low, high = known.min(axis=0), known.max(axis=0)
    middle = np.nanmedian(known.filled(np.nan), axis=0)
    axes.fill_between(x, low, high, color=drawing.BLUE, alpha=0.25, linewidth=0, label="from the least to the most")
    axes.plot(x, middle, label="the middle layer", **drawing.line_look(len(x), color=drawing.BLUE))
    axes.axhline(1e-3, color=drawing.ORANGE, linestyle="--", label="rule of thumb: 0.001")
    drawing.log_scale(axes, "y")
    drawing.step_axis(axes)
    axes.set_ylabel(_WORDS["update_ratios"])
    figure.legend(loc="outside upper left", ncols=3)
    axes.grid(alpha=0.3)
    return figure


@drawing.style()
def plot_gradient_flow(model: Any, batch: Batch) -> Any:
    """The gradient in each layer after one backward, from the input below to the output above: how large the derivative
    of the loss by one weight usually is (the root of the mean of squares), and the largest. Where the points go far to
    the left on the way down, the gradient vanishes; to the right, it explodes.

    There is no dropout, and the model's gradients are 0 afterwards. (Extra: plot.) Raises: what the model's loss raises
    for the batch; ValueError when every derivative is 0 or one is not finite.
    """
    tape = Tape()
    model.zero_grad()
    model.loss(batch, tape)
    model.loss_backward(1.0, tape)
    layers = parameters_by_layer(model)
    grads = [np.concatenate([each.grad.ravel() for each in layer]).astype(float) for layer in layers.values()]
    model.zero_grad()
    usual = [float(np.sqrt(np.mean(grad**2))) for grad in grads]
    largest = [float(np.abs(grad).max()) for grad in grads]
    if not np.isfinite(largest).all() or not any(largest):
        raise ValueError(f"the largest derivatives are {largest}: there is no flow to draw")
    figure, axes = drawing.new_panel(6.5, 1.2 + 0.3 * len(layers))
    looks = {"usual": (usual, drawing.BLUE, "o"), "largest": (largest, drawing.ORANGE, "D")}
    for words, (values, color, marker) in looks.items():
        known = [(value, place) for place, value in enumerate(values) if value > 0]
        axes.plot(*zip(*known, strict=True), marker, color=color, linestyle=":", linewidth=1, label=words)
    drawing.log_scale(axes, "x")
    drawing.name_places(axes.yaxis, list(layers))
    axes.set_xlabel("size of ∂loss / ∂weight, on a logarithmic scale")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def _round_steps(steps: Sequence[int]) -> list[int]:
    """At most six round steps for an axis, all as far apart, or the first and the last."""
    closest = max(1, min(np.diff(steps), default=1))
    bins = min(5, max(1, (steps[-1] - steps[0]) // closest))
    locator = import_extra("matplotlib.ticker", extra="plot").MaxNLocator(bins, integer=True)
    ticks = [round(tick) for tick in locator.tick_values(steps[0], steps[-1]) if steps[0] <= tick <= steps[-1]]
    return ticks if len(ticks) > 1 else sorted({steps[0], steps[-1]})


def _shades(low: float, high: float) -> dict[float, str]:
    """Round numbers for the bar of a picture of logarithms: their names by the place where they stand on it."""
    powers = range(math.floor(low), math.floor(high) + 1)
    for digits in ((1,), (1, 2, 5), range(1, 10)):
        numbers = {power + math.log10(digit): f"{digit}e{power}" for power in powers for digit in digits}
        names = {place: drawing.as_power(float(number)) for place, number in numbers.items() if low <= place <= high}
        if len(names) > 1:
            break
    return dict(list(names.items())[:: 1 + len(names) // 9])


def layer_numbers(run: drawing.Run, what: str) -> tuple[list[str], list[int], Array]:
    """The layers, at most 240 of the steps, evenly spaced, and the numbers (layers, steps), NaN where there is none.

    Raises: as plot_layers; FileError for rows that are not as a run writes them.
    """
    rows, place = drawing.rows_of(run, LAYERS_FILE)
    chosen = np.linspace(0, len(rows) - 1, _COLUMNS).round() if rows else np.empty(0)
    rows = [rows[number] for number in np.unique(chosen.astype(int))]
    try:
        names: list[str] = list(dict.fromkeys(name for row in rows for name in row[what]))
        values = [[float(np.nan if row[what].get(name) is None else row[what][name]) for row in rows] for name in names]
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise FileError(f"{place}a row has no {what} by layer, as a run writes them") from error
    if not names:
        raise FileError(f"{place}there are no numbers of layers to draw")
    return names, [row["step"] for row in rows], np.array(values)
