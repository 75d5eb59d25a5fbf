"""Draws the curves of runs: every metric by step."""

from collections.abc import Collection, Mapping
from typing import Any

from npbert.io import METRICS_FILE, SHOWN_FILE, FileError
from npbert.plots.drawing import INK, Rows, Run, label, new_figure, rows_of, step_axis, style

_NO_CURVES = ("step", "epoch")
_LARGEST = 1e300  # matplotlib adds some room
_LOOKS: dict[str, dict[str, Any]] = {  # a held-out curve is always thick, with dots
    "training": {"color": "C0", "linewidth": 1},
    "held out": {"color": "C1", "linewidth": 2, "marker": "o", "markersize": 4},
    "best model": {"color": INK, "linestyle": "", "marker": "o", "markersize": 9, "markerfacecolor": "none"},
    "not finite": {"color": "#b2182b", "linestyle": "", "marker": "x"},
    "baseline": {"color": INK, "linewidth": 1, "linestyle": "--"},
}
_UNITS = {"loss": "nats", "accuracy": "share", "norm": "‖g‖", "rate": "a step", "second": "a second"}
"""The units of metrics by the end of their name."""


def plot_curves(run: Run, names: Collection[str] | None = None) -> Any:
    """Draw a panel for each metric of a run, with the held-out set as a thick line with dots. A cross marks a number
    that is not finite. For a folder, dashed lines are the baselines, and rings mark the step of the best model.

    run: the folder of a run, or rows of metrics.jsonl; `eval_x` is for the held-out set, `x` for training.
    names: only these metrics.

    (Extra: plot.) Raises: FileError without numbers to draw; as read_json_lines.
    """
    return curves_figure({"": rows_of(run, METRICS_FILE)}, rows_of(run, SHOWN_FILE), names)


@style()
def curves_figure(
    runs: Mapping[str, Rows],
    shown: Rows = (),
    wanted: Collection[str] | None = None,
) -> Any:
    """Return the figure of plot_curves for the rows of each run, by its name, with a color for each run.

    shown: rows of shown.jsonl, with the baselines and the best step.
    Raises: FileError without numbers to draw.
    """
    judged = judged_in(shown)
    known = dict.fromkeys(name.removeprefix("eval_") for rows in runs.values() for row in rows for name in row)
    names = [name for name in known if name not in _NO_CURVES and (wanted is None or name in wanted)]
    if not names:
        raise FileError(f"{METRICS_FILE} of the run has no numbers to draw")
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    figure = new_figure(3.6 * columns, 2.4 * lines + 0.3)
    looks: dict[str, Any] = {}
    for index, name in enumerate(names, start=1):
        axes = figure.add_subplot(lines, columns, index, ylabel=_UNITS.get(name.rpartition("_")[2], ""))
        for number, (run, rows) in enumerate(runs.items()):
            color = {"color": f"C{number}"} if len(runs) > 1 else {}
            for words, points in _curves(rows, name, judged["best_step"]).items():
                look = {"marker": "o" if len(points) == 1 else "", **_LOOKS[words], **color}
                if words == "not finite":
                    look["transform"] = axes.get_xaxis_transform()
                curve = f"{run}, {words}" if run else words
                (looks[curve],) = axes.plot(*zip(*points, strict=True), label=curve, **look)
        if (baseline := judged["baselines"].get(name)) is not None:
            looks["baseline"] = axes.axhline(baseline, label="baseline", **_LOOKS["baseline"])
        axes.set_title(label(name.replace("_", " ")), loc="left")
        step_axis(axes)
        axes.yaxis.set_major_formatter("{x:.6g}")
    if looks:
        figure.legend(looks.values(), looks, loc="outside upper left", ncols=min(len(looks), 2 * columns))
    return figure


def _curves(rows: Rows, name: str, best_step: int | None) -> dict[str, list[tuple[int, float]]]:
    """Return the (step, number) of each non-empty curve of a metric."""
    found: dict[str, list[tuple[int, float]]] = {words: [] for words in _LOOKS}
    for row in rows:
        step = row["step"]
        for words, column in (("training", name), ("held out", f"eval_{name}")):
            value = row.get(column, _LARGEST)
            if value is None:
                found["not finite"].append((step, 0.97))
            elif abs(float(value)) < _LARGEST:
                found[words].append((step, value))
    found["best model"] = [point for point in found["held out"] if point[0] == best_step]
    return {words: points for words, points in found.items() if points}


def judged_in(shown: Rows) -> dict[str, Any]:
    """Return the last row of shown.jsonl. Without one, or without their numbers, it has no `kind`, `baselines` or
    `best_step`, the step of the model in model/: "", {} and None."""
    return {"kind": "", "baselines": {}, "best_step": None, **(shown[-1] if shown else {})}
