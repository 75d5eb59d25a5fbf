"""How large gradients and updates were in each layer, step after step: what vanishes or explodes is seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from npbert.compute import Array
from npbert.extras import import_extra
from npbert.files import FileError
from npbert.plots.drawing import (
    BLUE,
    MAGNITUDES,
    ORANGE,
    as_power,
    at_whole_steps,
    label,
    mark_alone,
    name_places,
    new_figure,
    style,
)
from npbert.rows import LAYERS_FILE, read_rows

Run: TypeAlias = "str | Path | Sequence[dict[str, Any]]"
"""The folder of a run, or rows of it."""

RULE_OF_THUMB = 1e-3
_COLUMNS = 240
_WORDS = {"gradient_norms": "‖g‖", "update_ratios": "‖Δw‖ / ‖w‖"}


def plot_layers(run: Run, what: str = "gradient_norms") -> Any:
    """A heat map: a row a layer, from the input below to the output above, and a column a step; brighter is more, each
    shade so many times more than the one before it.

    run: the folder of a run, or its rows, as layers.jsonl has them. what: gradient_norms, or update_ratios.
    (Extra: plot.) Raises: FileError when there is nothing to draw yet; what read_rows raises.
    """
    names, steps, values = layer_numbers(run, what)
    colors = import_extra("matplotlib.colors", extra="plot")
    with np.errstate(all="ignore"):
        logs = np.log10(values)
    shown = np.ma.masked_invalid(logs)
    if shown.count() == 0:
        raise FileError(f"{_WORDS[what]} is 0 or not known in every layer: there is nothing to draw")
    with style():
        width, height = 7.5, 1.0 + 0.24 * len(names)
        figure = new_figure(width, height)
        figure.set_layout_engine("none")  # so that pictures of the same layers are of the same width
        left = 0.25 + 0.08 * max(len(label(name)) for name in names)
        low_edge, high_edge = 0.6 / height, 1 - 0.85 / height
        axes = figure.add_axes((left / width, low_edge, 1 - (left + 1.35) / width, high_edge))
        low, high = (float(end) for end in np.percentile(shown.compressed(), [2, 100]))
        scale = colors.Normalize(low, max(high, low + 0.5))
        extent = (0.5, len(steps) + 0.5, -0.5, len(names) - 0.5)
        image = axes.imshow(
            shown, MAGNITUDES, scale, aspect="auto", origin="lower", interpolation="none", extent=extent
        )
        name_places(axes.yaxis, names)
        ticks = _even(steps)
        axes.set_xticks(np.interp(ticks, steps, np.arange(1, len(steps) + 1)), [f"{step:,}" for step in ticks])
        axes.set_xlabel("step")
        bar = figure.colorbar(image, cax=figure.add_axes((1 - 1.15 / width, low_edge, 0.18 / width, high_edge)))
        bar.set_label(_WORDS[what])
        places, written = _shades(scale.vmin, scale.vmax)
        bar.set_ticks(places, labels=written)
    return figure


def plot_update_ratios(run: Run) -> Any:
    """How far a step moves the weights, beside how large they are: the middle layer as a line, all of them as a band,
    and the rule of thumb, 1e-3, as a dashed line. (Extra: plot.) Raises: as plot_layers."""
    _, steps, values = layer_numbers(run, "update_ratios")
    with np.errstate(all="ignore"):
        known = np.where(np.isfinite(values) & (values > 0), values, np.nan)
    present = np.isfinite(known).any(axis=0)
    if not present.any():
        raise FileError("no step moved any weight: there is nothing to draw")
    known, shown_steps = known[:, present], np.array(steps)[present]
    ticker = import_extra("matplotlib.ticker", extra="plot")
    with style():
        figure = new_figure(7.5, 2.8)
        axes = figure.add_subplot()
        low, high = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
        axes.fill_between(
            shown_steps, low, high, color=BLUE, alpha=0.25, linewidth=0, label="from the least to the most"
        )
        middle = np.nanmedian(known, axis=0)
        axes.plot(shown_steps, middle, label="the middle layer", **mark_alone(shown_steps.tolist(), {"color": BLUE}))
        axes.axhline(RULE_OF_THUMB, color=ORANGE, linestyle="--", label="rule of thumb: 0.001")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(as_power)
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())
        at_whole_steps(axes.xaxis)
        axes.set_xlabel("step")
        axes.set_ylabel("‖Δw‖ / ‖w‖")
        figure.legend(loc="outside upper left", ncols=3)
        axes.grid(alpha=0.3)
    return figure


def _even(steps: Sequence[int]) -> list[int]:
    """At most six round steps for an axis, all as far apart: multiples of 1, 2 or 5 with zeros."""
    closest = min(np.diff(steps), default=1)
    for unit in (digit * 10**power for power in range(18) for digit in (1, 2, 5)):
        first = -(-steps[0] // unit) * unit
        ticks = list(range(first, steps[-1] + 1, unit)) if (steps[-1] - first) // unit < 6 else []
        if ticks and unit >= closest:
            return ticks if len(ticks) > 1 else sorted({steps[0], steps[-1]})
    return [steps[0]]


def _shades(low: float, high: float) -> tuple[list[float], list[str]]:
    """Round numbers for the bar of a picture of logarithms, where they stand on it, and what they are called."""
    powers = range(math.floor(low), math.floor(high) + 1)
    found: list[tuple[float, str]] = []
    for digits in ((1,), (1, 2, 5), range(1, 10)):
        places = [(power + math.log10(digit), f"{digit}e{power}") for power in powers for digit in digits]
        found = [(place, as_power(float(number))) for place, number in places if low <= place <= high]
        if len(found) > 1:
            break
    found = found[:: 1 + len(found) // 9]
    return [place for place, _ in found], [written for _, written in found]


def layer_numbers(run: Run, what: str) -> tuple[list[str], list[int], Array]:
    """The layers, at most 240 of the steps, evenly spaced, and the numbers (layers, steps), NaN where there is none.

    Raises: as plot_layers; FileError for rows that are not as a run writes them.
    """
    if isinstance(run, str | Path):
        path = Path(run) / LAYERS_FILE
        place, rows = f"{path}: ", read_rows(path)
    else:
        place, rows = "", list(run)
    if not rows:
        raise FileError(f"{place}there are no numbers of layers to draw")
    rows = [rows[number] for number in np.unique(np.linspace(0, len(rows) - 1, _COLUMNS).round().astype(int))]
    try:
        names: list[str] = list(dict.fromkeys(name for row in rows for name in row[what]))
        values = [[float(np.nan if row[what].get(name) is None else row[what][name]) for row in rows] for name in names]
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise FileError(f"{place}a row has no {what} by layer, as a run writes them") from error
    if not names:
        raise FileError(f"{place}there are no numbers of layers to draw")
    return names, [row["step"] for row in rows], np.array(values)
