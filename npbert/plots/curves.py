"""The curves of a run: every number that it wrote down, by step."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from npbert.files import FileError
from npbert.plots.drawing import BLUE, INK, ORANGE, as_power, at_whole_steps, mark_alone, new_figure, style
from npbert.rows import METRICS_FILE, SHOWN_FILE, read_rows

_NO_CURVES = ("step", "epoch")


def plot_curves(
    run: str | Path | Sequence[dict[str, Any]],
    names: Collection[str] | None = None,
    *,
    baselines: Mapping[str, float] | None = None,
) -> Any:
    """A panel for each number of a run; what a held-out set gave goes into the panel of what training gave.

    run: the folder of a run, or its rows, as metrics.jsonl has them; `eval_x` in a row is of a held-out set, `x` of
    training. names: only these. baselines: by name, what knowing next to nothing gives on the held-out set, as dashed
    lines; for the folder of a run, by default those that it wrote down. (Extra: plot.)

    Raises: FileError when there is nothing to draw yet; what read_rows raises.
    """
    rows = read_rows(Path(run) / METRICS_FILE) if isinstance(run, str | Path) else run
    if baselines is None:
        baselines = baselines_in(read_rows(Path(run) / SHOWN_FILE)) if isinstance(run, str | Path) else {}
    names = [name for name in curve_names(rows) if names is None or name in names]
    if not names:
        what = f"{Path(run) / METRICS_FILE}: " if isinstance(run, str | Path) else ""
        raise FileError(f"{what}there are no numbers of a run to draw")
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    with style():
        figure = new_figure(3.6 * columns, 2.4 * lines + 0.3)
        looks: dict[str, Any] = {}
        for index, name in enumerate(names):
            axes = figure.add_subplot(lines, columns, index + 1)
            for key, words, look in (
                (name, "training", {"color": BLUE, "linewidth": 1.2}),
                (f"eval_{name}", "held out", {"color": ORANGE, "linewidth": 2, "marker": "o", "markersize": 4}),
            ):
                points = [(row["step"], row[key]) for row in rows if row.get(key) is not None]
                if points:
                    (looks[words],) = axes.plot(*zip(*points, strict=True), label=words, **mark_alone(points, look))
            if name in baselines:
                dashed = {"color": INK, "linewidth": 1, "linestyle": "--"}
                looks["baseline"] = axes.axhline(baselines[name], label="baseline", **dashed)
            axes.set_title(name.replace("_", " "), loc="left")
            axes.set_xlabel("step")
            at_whole_steps(axes.xaxis)
            axes.yaxis.set_major_formatter(as_power)
            axes.grid(alpha=0.3)
        if looks:
            figure.legend(looks.values(), looks, loc="outside upper left", ncols=len(looks))
    return figure


def baselines_in(shown: Sequence[dict[str, Any]]) -> dict[str, float]:
    """What knowing next to nothing gives, by name, as the rows of shown.jsonl have it; {} where they do not."""
    found = shown[-1].get("baselines") if shown else None
    numbers = found if isinstance(found, dict) else {}
    return {name: value for name, value in numbers.items() if isinstance(value, int | float) and abs(value) < 1e300}


def curve_names(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The names of the numbers that there is a curve of, in the order in which they come."""
    names = dict.fromkeys(name.removeprefix("eval_") for row in rows for name in row)
    return [name for name in names if name not in _NO_CURVES]
