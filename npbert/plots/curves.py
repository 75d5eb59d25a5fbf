"""Draws the curves of runs: every metric by step."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from npbert.io.files import FileError
from npbert.io.json_lines import METRICS_FILE, SHOWN_FILE
from npbert.plots import drawing

_NO_CURVES = ("step", "epoch")
_TITLE = 40
_MOST_PANELS = 30
_LOOKS: dict[str, dict[str, Any]] = {  # a held-out curve is always thick, with dots
    "training": {"color": drawing.BLUE, "linewidth": 1},
    "held out": {"color": drawing.ORANGE, "linewidth": 2, "marker": "o", "markersize": 4},
    "best model": {"color": drawing.INK, "linestyle": "", "marker": "o", "markersize": 9, "markerfacecolor": "none"},
    "not finite": {"color": "#b2182b", "linestyle": "", "marker": "x"},
    "baseline": {"color": drawing.INK, "linewidth": 1, "linestyle": "--"},
}
_UNITS = {"loss": "nats", "accuracy": "share", "norm": "‖g‖", "rate": "a step", "second": "a second"}
"""The units of metrics by the end of their name."""


def plot_curves(
    run: drawing.Run,
    names: Collection[str] | None = None,
    *,
    baselines: Mapping[str, float] | None = None,
    best_step: int | None = None,
) -> Any:
    """Draw a panel for each metric of a run, with the held-out set as a thick line with dots. A cross marks a number
    that is not finite.

    run: the folder of a run, or rows of metrics.jsonl; `eval_x` is for the held-out set, `x` for training.
    names: only these metrics. Only the first 30 have panels.
    baselines: dashed lines.   best_step: the best model's, marked with rings. For a folder, by default the run's.

    (Extra: plot.) Raises: FileError without numbers to draw; as read_json_lines.
    """
    rows, place = drawing.rows_of(run, METRICS_FILE)
    report_rows, _ = drawing.rows_of(run, SHOWN_FILE) if isinstance(run, str | Path) else ([], "")
    written, best = judged_in(report_rows)
    baselines, best_step = baselines if baselines is not None else written, best_step or best
    names = [name for name in curve_names(rows) if names is None or name in names]
    if not names:
        raise FileError(f"{place}the run has no numbers to draw")
    return curves_figure({"": rows}, names, baselines=baselines, best_step=best_step)


@drawing.style()
def curves_figure(
    runs: Mapping[str, Sequence[dict[str, Any]]],
    names: Sequence[str],
    *,
    baselines: Mapping[str, float] | None = None,
    best_step: int | None = None,
) -> Any:
    """Return the figure of plot_curves for the rows of each run, by its name, with a color for each run."""
    columns = min(3, len(names))
    lines = -(-min(len(names), _MOST_PANELS) // columns)
    figure = drawing.new_figure(3.6 * columns, 2.4 * lines + 0.3)
    looks: dict[str, Any] = {}
    for index, name in enumerate(names[:_MOST_PANELS]):
        axes = figure.add_subplot(lines, columns, index + 1)
        for number, (run, rows) in enumerate(runs.items()):
            color = {"color": drawing.COLORS[number % len(drawing.COLORS)]} if len(runs) > 1 else {}
            for words, points in _curves(rows, name, best_step).items():
                how = {"transform": axes.get_xaxis_transform()} if words == "not finite" else {}
                look = drawing.line_look(len(points), **_LOOKS[words] | color)
                label = f"{run}, {words}" if run else words
                (looks[label],) = axes.plot(*zip(*points, strict=True), label=label, **look, **how)
        if baselines and name in baselines:
            looks["baseline"] = axes.axhline(baselines[name], label="baseline", **_LOOKS["baseline"])
        axes.set_title(drawing.label(name.replace("_", " "), _TITLE), loc="left")
        axes.set_ylabel(_UNITS.get(name.rpartition("_")[2], ""))
        drawing.step_axis(axes)
        axes.yaxis.set_major_formatter("{x:.6g}")
        axes.grid(alpha=0.3)
    if looks:
        figure.legend(looks.values(), looks, loc="outside upper left", ncols=min(len(looks), 2 * columns))
    if len(names) > _MOST_PANELS:
        left_out = f"and {len(names) - _MOST_PANELS} more metrics (no room)"
        figure.supxlabel(left_out, size="small")
    return figure


def _curves(rows: Sequence[dict[str, Any]], name: str, best_step: int | None) -> dict[str, list[tuple[int, float]]]:
    """Return the (step, number) of each non-empty curve of a metric."""
    training, held_out = (_points(rows, column) for column in (name, f"eval_{name}"))
    lost = [(row["step"], 0.97) for row in rows for column in (name, f"eval_{name}") if row.get(column, 0) is None]
    best = [point for point in held_out if point[0] == best_step]
    found = {"training": training, "held out": held_out, "best model": best, "not finite": lost}
    return {words: points for words, points in found.items() if points}


def _points(rows: Sequence[dict[str, Any]], key: str) -> list[tuple[int, float]]:
    """Return (step, number) of each row with this metric."""
    return [(row["step"], row[key]) for row in rows if row.get(key) is not None and abs(float(row[key])) < 1e300]


def judged_in(report_rows: Sequence[dict[str, Any]]) -> tuple[dict[str, float], int | None]:
    """Return the baselines by name, and the step of the model in model/, if the rows of shown.jsonl have them."""
    row = report_rows[-1] if report_rows else {}
    found, best = row.get("baselines"), row.get("best_step")
    numbers = found.items() if isinstance(found, dict) else ()
    baselines = {name: value for name, value in numbers if isinstance(value, int | float) and abs(value) < 1e300}
    return baselines, best if isinstance(best, int) and best > 0 else None


def curve_names(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the names of the metrics with a curve, in order."""
    names = dict.fromkeys(name.removeprefix("eval_") for row in rows for name in row)
    return [name for name in names if name not in _NO_CURVES]
