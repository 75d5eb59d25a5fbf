"""How time and memory grow with the length, the batch, the depth and the width: a table and a picture."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from report import Row, last_runs, middle, show, spread_of_ratios
from workloads import GROWTH, WORKLOADS

SIDES = ("npbert", "torch")
WHAT = {"T": "tokens in a sequence", "B": "sequences", "L": "layers", "D": "features of a token"}


def growth_table(rows: Iterable[Row]) -> str:
    """A line for each size: the time and the peak memory of a training step of npbert and of hand-tuned torch."""
    lines = []
    for name, sides in last_runs(rows).items():
        if name.startswith("g-") and all(side in sides for side in SIDES):
            runs = [sides[side] for side in SIDES]
            cells = [WORKLOADS[name].title, *(show(middle(measured, "median")) for measured in runs)]
            cells += [
                spread_of_ratios(runs[0], runs[1]),
                *(f"{middle(measured, 'peak_mib'):,.0f} MiB" for measured in runs),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    if not lines:
        return ""
    heading = ["", *SIDES, "npbert's time / torch's", *(f"{side}, peak memory" for side in SIDES)]
    return "\n".join([f"| {' | '.join(heading)} |", "|---" * len(heading) + "|", *lines])


def plot(rows: Iterable[Row], path: Path) -> None:
    """Draw the same: a column for each of T, B, L and D, time above memory. (Needs matplotlib.)"""
    from matplotlib.figure import Figure

    runs = last_runs(rows)
    figure = Figure(figsize=(12, 5.5), layout="constrained")
    axes: Any = figure.subplots(2, len(GROWTH), sharex="col")
    for column, (grows, sizes) in zip(axes.T, GROWTH.items(), strict=True):
        for side in SIDES:
            measured = {size: runs[f"g-{grows}{size}"][side] for size in sizes if f"g-{grows}{size}" in runs}
            measured = {size: found for size, found in measured.items() if found}
            seconds, memory = ([middle(found, name) for found in measured.values()] for name in ("median", "peak_mib"))
            column[0].plot(list(measured), [1e3 * value for value in seconds], marker="o", label=side)
            column[1].plot(list(measured), memory, marker="o", label=side)
        column[1].set_xlabel(f"{grows}, {WHAT[grows]}")
        for axis in column:
            axis.margins(y=0.1)
            axis.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("a training step, ms")
    axes[1, 0].set_ylabel("peak memory, MiB")
    axes[0, 0].legend()
    figure.savefig(path, dpi=120)
