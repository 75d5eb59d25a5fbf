"""Processes: each side at each task in a fresh one, turn by turn."""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from task import Task

MEASURE = Path(__file__).with_name("measure.py")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPBERT_NUM_THREADS")


def add_options(parser: argparse.ArgumentParser, sides: Sequence[str], output: Path) -> None:
    """The options of every benchmark that takes turns: who takes part, how often, with what, and where it is kept."""
    parser.add_argument("--sides", nargs="+", choices=sides, default=sides)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--wait", type=float, default=0.0, help="seconds to wait for a quiet machine, before a process")
    parser.add_argument("--checkpoint")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--output", type=Path, default=output)
    parser.add_argument("--table", action="store_true", help="print the table of --output at the end")


def run_side(side: str, task: Task, threads: int, *options: str) -> dict[str, Any]:
    """What measure.py prints for a side; `wall` is how long its process took from before its start to its end, `cpu`
    how long all of its threads were at work, `others` the share of the machine that other processes had meanwhile.

    Raises: RuntimeError with what the process complained of.
    """
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
    command = [sys.executable, str(MEASURE), side, task.folder, *options]
    start, busy, own = time.perf_counter(), busy_seconds(), child_seconds()
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    wall, cpu = time.perf_counter() - start, child_seconds() - own
    others = (busy_seconds() - busy - cpu) / wall / (os.cpu_count() or 1)
    if process.returncode:
        raise RuntimeError(f"{side} failed:\n{process.stderr}")
    return {**json.loads(process.stdout.splitlines()[-1]), "wall": wall, "cpu": cpu, "others": max(0.0, others)}


def wait_for_quiet(patience: float) -> None:
    """Return when the machine has been idle for a second, or after `patience` seconds."""
    end = time.perf_counter() + patience
    while time.perf_counter() < end:
        busy = busy_seconds()
        time.sleep(1)
        if busy_seconds() - busy < 0.1:
            return


def busy_seconds() -> float:
    """How long the cores of this machine have been at work, all together."""
    user, nice, system, _idle, _waiting, *rest = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:])
    return (user + nice + system + sum(rest[:3])) / os.sysconf("SC_CLK_TCK")


def child_seconds() -> float:
    """How long this process's ended children have been at work."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def alternate(
    name: str, task: Task, sides: Sequence[str], *, rounds: int, threads: int, patience: float
) -> Iterator[dict[str, Any]]:
    """A row of numbers for each side and round: all sides in turn, then again. patience: as in wait_for_quiet."""
    run, batches = time.time(), task.batches()
    tokens = sum(int(batch["attention_mask"].sum()) for batch in batches)
    # a pass over several batches of training is so many steps, and the time of one is what is of interest
    parts = len(batches) if task.kind == "train" else 1
    prepare(task, sides, threads)
    for number in range(rounds):
        for side in sides:
            wait_for_quiet(patience)
            result = run_side(side, task, threads)
            seconds = [value / parts for value in result["seconds"] or [result["wall"]]]
            yield {
                "workload": name,
                "run": run,
                "side": side,
                "round": number,
                "seconds": seconds,
                "median": statistics.median(seconds),
                "cpu": result["cpu"],
                "tokens": tokens / parts,
                "peak_mib": result["peak_mib"],
                "others": result["others"],
                "threads": threads,
                "versions": result["versions"],
            }


def prepare(task: Task, sides: Sequence[str], threads: int) -> None:
    """What a side does once; and where starting is measured, a start of each, so that the disk's cache is warm."""
    for side in sides:
        if side == "onnx":
            run_side(side, task, threads, "--prepare")
        elif task.kind == "start":
            run_side(side, task, threads)
