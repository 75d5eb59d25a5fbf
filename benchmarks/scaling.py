"""How a training step grows faster with processes: `python benchmarks/scaling.py b c --rounds 5`.

In each round, in turn: one process of one thread, one process of two threads, two processes of one thread each, and
these without the optimiser's memory shared out. Then how long an all-reduce takes on this machine. `b:8` is the
workload b with 8 sequences. It takes the mpiexec beside this Python, or from the path: `pip install mpi4py mpich`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from rounds import THREAD_VARIABLES, busy_seconds, wait_for_quiet

PARTS = ("gradients", "sum and norm", "update", "spread")
"""Of a step, as scaling_step.py calls them."""

STEP = Path(__file__).with_name("scaling_step.py")


class Side(NamedTuple):
    """So many processes, of so many threads each."""

    title: str
    processes: int
    threads: int


SIDES = (
    Side("1 process, 1 thread", 1, 1),
    Side("1 process, 2 threads", 1, 2),
    Side("2 processes, 1 thread each", 2, 1),
)


def run_side(side: Side, what: str, passes: int) -> list[dict[str, Any]]:
    """The numbers of each of its processes, as scaling_step.py has measured them.

    what: the name of a workload, with :8 behind it for 8 sequences; or network.
    """
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(side.threads))}
    environment |= dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    name, _, sequences = what.partition(":")
    command = [sys.executable, str(STEP), name, "--sequences", sequences or "0", "--passes", str(passes)]
    if side.processes > 1:
        beside = Path(sys.executable).with_name("mpiexec")
        launcher = str(beside) if beside.exists() else shutil.which("mpiexec") or "mpiexec"
        command = [launcher, "-n", str(side.processes), *command]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{side.title} failed:\n{done.stderr}")
    everyone: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return everyone


def measure(workload: str, rounds: int, passes: int, patience: float) -> None:
    """Print the table of a workload. passes: how many steps a process measures. patience: how many seconds it waits
    for the machine to be quiet."""
    found: dict[str, list[list[dict[str, Any]]]] = {side.title: [] for side in SIDES}
    for _ in range(rounds):
        for side in SIDES:
            wait_for_quiet(patience)
            found[side.title].append(run_side(side, workload, passes))
    print(f"\n## {workload}\n")
    print(f"| side | step | {' | '.join(PARTS)} | 1 thread's time / its | 2 threads' / its | peak |")
    print("|---" * (len(PARTS) + 5) + "|")
    base = {title: [everyone[0]["step"] for everyone in found[title]] for title in found}
    for side in SIDES:
        of_first = [everyone[0] for everyone in found[side.title]]
        times = [statistics.median(each[name] for each in of_first) for name in ("step", *PARTS)]
        ratios = [ratio(base[other.title], base[side.title]) for other in SIDES[:2]]
        peaks = zip(*[[each["peak_mib"] for each in everyone] for everyone in found[side.title]], strict=True)
        peak = " and ".join(f"{statistics.median(values):,.0f}" for values in peaks)
        cells = [*(f"{1000 * seconds:,.0f} ms" for seconds in times), *ratios, f"{peak} MiB"]
        print(f"| {side.title} | {' | '.join(cells)} |")


def ratio(these: list[float], those: list[float]) -> str:
    """How many times as long these take as those, round by round: the median, with the least and the greatest."""
    ratios = [one / another for one, another in zip(these, those, strict=True)]
    return f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f} – {max(ratios):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", default=["b", "c"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--passes", type=int, default=4)
    parser.add_argument("--wait", type=float, default=0.0, help="seconds to wait for quiet before each process")
    args = parser.parse_args()
    busy = busy_seconds()
    for workload in args.workloads:
        measure(workload, args.rounds, args.passes, args.wait)
    network = run_side(SIDES[2], "network", 7)[0]
    print("\nall-reduce of two processes:")
    for size, seconds in network["all_reduce"].items():
        print(f"  {int(size) / 2**20:8,.2f} MiB {1000 * seconds:9.3f} ms  {int(size) / seconds / 1e9:6.2f} GB/s")
    print(f"a number from each: {1e6 * network['gather']:.0f} µs")
    print(f"the cores were at work for {busy_seconds() - busy:.0f} s in all")


if __name__ == "__main__":
    main()
