"""How fast npbert is, and its peers, turn by turn.

    python benchmarks/speed.py [WORKLOAD …] [--rounds 5] [--checkpoint FOLDER] [--data FOLDER] [--table]

Each round starts a fresh process for each side, which warms up and then times some passes. Every process leaves a line
of JSON at the end of --output; `--table` prints that file's last run of each workload, `--plot` draws it; without a
WORKLOAD they do nothing else. A WORKLOAD is a name from the list, or how some begin: `e` is e1, e2 and e3. `--check`
compares what the sides compute instead of measuring them.

The folders are a checkpoint of a BertModel, and data: gutenberg/*.txt, vocab/*.txt and stsb/sts-dev.csv. (It needs
Linux, for the peak memory and what else the machine does.)
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
from pathlib import Path

from agreement import TOLERANCE, differences
from growth import growth_table, plot
from report import circumstances, show, table
from rounds import add_options, alternate
from sides import PACKAGES, SIDES
from workloads import WORKLOADS, chosen

KNOWN = [side for side in PACKAGES if any(side in SIDES[workload.kind] for workload in WORKLOADS.values())]


def available(side: str) -> bool:
    """Whether what a side needs is installed; says what is not."""
    missing = [package for package in PACKAGES[side] if importlib.util.find_spec(package) is None]
    if missing:
        print(f"without {side}: {', '.join(missing)} is not installed", file=sys.stderr)
    return not missing


def possible(name: str, args: argparse.Namespace) -> bool:
    """Whether the folders that a workload needs were given; says which were not."""
    missing = [f"--{folder}" for folder in WORKLOADS[name].needs if getattr(args, folder) is None]
    if missing:
        print(f"without {name}: it needs {' and '.join(missing)}", file=sys.stderr)
    return not missing


def sides_of(name: str, args: argparse.Namespace) -> list[str]:
    workload = WORKLOADS[name]
    return [side for side in workload.sides or SIDES[workload.kind] if side in args.sides]


def measure(names: list[str], args: argparse.Namespace) -> None:
    """Run the workloads, and write down their rows as they come."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            task = WORKLOADS[name].save_task(Path(folder, name), args.checkpoint, args.data)
            how = {"rounds": args.rounds, "threads": args.threads, "patience": args.wait}
            for row in alternate(name, task, sides_of(name, args), **how):
                print(f"{name}, round {row['round'] + 1}: {row['side']:<14}{show(row['median'])}", flush=True)
                with args.output.open("a") as file:
                    file.write(json.dumps(row) + "\n")


def check(names: list[str], args: argparse.Namespace) -> bool:
    """Print by how much the other sides differ from the first; whether all agree."""
    agree = True
    for name in names:
        sides = [side for side in sides_of(name, args) if side != "products"]
        if len(sides) < 2:
            print(f"{name}: there are no two sides to compare", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            task = WORKLOADS[name].save_task(Path(folder, name), args.checkpoint, args.data)
            for side, difference in differences(task, sides, args.threads):
                is_same = difference <= TOLERANCE
                agree = agree and is_same
                print(f"{name}: {side} differs by {difference:.1e}: {'ok' if is_same else 'NOT THE SAME'}", flush=True)
    return agree


def show_results(args: argparse.Namespace) -> None:
    """Print, or draw, what is in the file. Raises: ValueError where there is nothing."""
    rows = [json.loads(line) for line in args.output.read_text().splitlines()]
    if not rows:
        raise ValueError(f"{args.output} is empty")
    if args.table:
        print(*filter(None, [table(rows), growth_table(rows), circumstances(rows)]), sep="\n\n")
    if args.plot:
        plot(rows, args.plot)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    add_options(parser, KNOWN, Path("speed.jsonl"))
    parser.add_argument("--plot", type=Path, metavar="PNG", help="draw how time and memory grow, from --output")
    parser.add_argument("--check", action="store_true", help="compare the results instead of the times")
    args = parser.parse_args()
    try:
        if args.check or args.workloads or not (args.table or args.plot):
            args.sides = [side for side in args.sides if available(side)]
            names = [name for name in chosen(args.workloads) if possible(name, args)]
            if args.check:
                sys.exit(0 if check(names, args) else 1)
            measure(names, args)
        if args.table or args.plot:
            show_results(args)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"speed.py: {error}")


if __name__ == "__main__":
    main()
