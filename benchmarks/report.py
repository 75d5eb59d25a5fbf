"""Tables of what was measured, in Markdown."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from workloads import WORKLOADS

Row = dict[str, Any]


def last_runs(rows: Iterable[Row], names: Iterable[str] = WORKLOADS) -> dict[str, dict[str, list[Row]]]:
    """By workload and side, the rows of the last run of each workload of these names, a round each."""
    rows = list(rows)
    last: dict[str, float] = {}
    for row in rows:
        last[row["workload"]] = max(row["run"], last.get(row["workload"], 0))
    grouped: dict[str, dict[str, list[Row]]] = {name: defaultdict(list) for name in names if name in last}
    for row in rows:
        if row["run"] == last[row["workload"]] and row["workload"] in grouped:
            grouped[row["workload"]][row["side"]].append(row)
    return grouped


def table(rows: Iterable[Row]) -> str:
    """A line for each workload and side: time, tokens, memory, and the ratios to npbert and to the bare products."""
    lines = [
        "| workload | side | time | rounds | tokens/s | peak memory | npbert's time / its | products' share |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, sides in last_runs(rows).items():
        if name.startswith("g-"):
            continue
        for side, runs in sides.items():
            times, time = [run["median"] for run in runs], middle(runs, "median")
            tokens = f"{runs[0]['tokens'] / time:,.0f}" if runs[0]["tokens"] else ""
            ours, products = sides.get("npbert"), sides.get("products")
            ratio = spread_of_ratios(ours, runs) if ours and side not in ("npbert", "products") else ""
            share = f"{statistics.median(ratios(products, runs)):.0%}" if products and side != "products" else ""
            what = f"{name}: {WORKLOADS[name].title}"
            cells = [
                what,
                side,
                show(time),
                f"{show(min(times))} – {show(max(times))}",
                tokens,
                f"{middle(runs, 'peak_mib'):,.0f} MiB",
            ]
            lines.append(f"| {' | '.join([*cells, ratio, share])} |")
    return "\n".join(lines)


def middle(rows: Iterable[Row], name: str) -> float:
    """The median of a number over the rounds."""
    return statistics.median(row[name] for row in rows)


def ratios(ours: Sequence[Row], theirs: Sequence[Row], name: str = "median") -> list[float]:
    """Our number of that name to theirs, round by round."""
    other = {row["round"]: row[name] for row in theirs}
    return [row[name] / other[row["round"]] for row in ours if row["round"] in other]


def spread_of_ratios(ours: Sequence[Row], theirs: Sequence[Row], name: str = "median") -> str:
    values = ratios(ours, theirs, name)
    return f"**{statistics.median(values):.2f}** ({min(values):.2f} – {max(values):.2f})"


def show(seconds: float) -> str:
    """In milliseconds, or from 10 s on in seconds."""
    if seconds >= 10:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:,.0f} ms" if seconds >= 0.1 else f"{seconds * 1e3:.2f} ms"


def circumstances(rows: Iterable[Row], names: Iterable[str] = WORKLOADS) -> str:
    """How many threads and rounds, which versions, and how busy the machine was with something else."""
    runs = [row for sides in last_runs(rows, names).values() for runs in sides.values() for row in runs]
    versions = {library: version for row in runs for library, version in row["versions"].items()}
    listed = ", ".join(f"{library} {version}" for library, version in versions.items())
    threads = ", ".join(map(str, sorted({row["threads"] for row in runs})))
    return (
        f"Threads: {threads}. Rounds: {max(row['round'] for row in runs) + 1}. {listed}. Other processes had "
        f"{middle(runs, 'others'):.0%} of the machine meanwhile, at most {max(row['others'] for row in runs):.0%}."
    )
