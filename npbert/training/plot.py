"""The curves of a run as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from npbert.extras import import_extra
from npbert.files import atomic_write

PLOT_FILE = "curves.png"


def plot_curves(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw every number in `rows`, by step, one panel a name; what a held-out set gave goes into the same panel.

    The number called `eval_x` is that of a held-out set, `x` that of training. No rows, no picture. (Extra: train.)
    """
    figures = import_extra("matplotlib.figure", extra="train")
    ticker = import_extra("matplotlib.ticker", extra="train")
    names = list(dict.fromkeys(name.removeprefix("eval_") for row in rows for name in row))
    names = [name for name in names if name not in ("step", "epoch")]
    if not names:
        return
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    figure = figures.Figure(figsize=(5 * columns, 3.2 * lines), layout="constrained")
    for index, name in enumerate(names):
        axes = figure.add_subplot(lines, columns, index + 1)
        for key, label, style in ((name, "training", "-"), (f"eval_{name}", "held out", "o-")):
            points = [(row["step"], row[key]) for row in rows if row.get(key) is not None]
            if points:
                axes.plot(*zip(*points, strict=True), style, label=label, markersize=4)
        axes.set_title(name.replace("_", " "))
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(ticker.MaxNLocator(5, integer=True))
        axes.grid(alpha=0.3)
        if axes.lines:
            axes.legend()
    with atomic_write(path) as written:
        figure.savefig(written, format="png", dpi=110)
