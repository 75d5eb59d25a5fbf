"""One side at one task, in a process of its own: `python measure.py SIDE FOLDER`, started by speed.py and whole.py.

Prints the seconds of each pass, the peak memory and the versions as JSON. `--outputs FILE` writes what the side
computes instead, `--prepare` lets it get ready.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from task import WHOLE, Arrays, Task

LIBRARIES = ("numpy", "torch", "transformers", "sentence_transformers", "onnxruntime")


def seconds_of_passes(run: Any, batches: list[Arrays], task: Task) -> list[float]:
    """How long each pass over all batches took, after those that warm up."""
    seconds = []
    for _ in range(task.warm_up + task.passes):
        start = time.perf_counter()
        for batch in batches:
            run(batch)
        seconds.append(time.perf_counter() - start)
    return seconds[task.warm_up :]


def outputs(side: Any, task: Task) -> list[Any]:
    """What the side computes: the losses, the hidden states, or the beginning of the first vector."""
    if task.kind == "start":
        return [side.first_vector(task)]
    run = side.training_step(task) if task.kind == "train" else side.encode(task)
    return [run(batch) for batch in task.batches()]


def peak_mebibytes() -> float:
    """The most memory that this process has had. (Not by getrusage: on Linux that begins with the parent's peak.)"""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def versions() -> dict[str, str]:
    loaded = {name: sys.modules[name].__version__ for name in LIBRARIES if name in sys.modules}
    return {"Python": platform.python_version(), **loaded}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side")
    parser.add_argument("folder")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--outputs")
    args = parser.parse_args()
    task = Task.load(args.folder)
    is_whole = task.kind in WHOLE
    side = import_module(f"sides.{args.side}_{'runs' if is_whole else 'side'}")
    seconds: list[float] = []
    if args.prepare:
        side.prepare(task)
    elif args.outputs:
        np.savez(args.outputs, *outputs(side, task))
    elif is_whole:
        getattr(side, task.kind)(task)
    elif task.kind == "start":
        side.first_vector(task)
    else:
        run = side.training_step(task) if task.kind == "train" else side.encode(task)
        seconds = seconds_of_passes(run, task.batches(), task)
    print(json.dumps({"seconds": seconds, "peak_mib": peak_mebibytes(), "versions": versions()}))


if __name__ == "__main__":
    main()
