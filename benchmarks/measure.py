"""One side at one task, in a process of its own: `python measure.py SIDE FOLDER`, started by speed.py.

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

from task import Arrays, Task

LIBRARIES = ("numpy", "torch", "transformers", "onnxruntime")


def seconds_of_passes(run: Any, batches: list[Arrays], task: Task) -> list[float]:
    """How long each pass over all batches took, after those that warm up."""
    seconds = []
    for _ in range(task.warm_up + task.passes):
        start = time.perf_counter()
        for batch in batches:
            run(batch)
        seconds.append(time.perf_counter() - start)
    return seconds[task.warm_up :]


def peak_mebibytes() -> float:
    """The most memory that this process has had. (Not by getrusage: on Linux that begins with the parent's peak.)"""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def versions() -> dict[str, str]:
    loaded = {name: sys.modules[name].__version__ for name in LIBRARIES if name in sys.modules}
    return {"Python": platform.python_version(), **loaded}


def main() -> None:
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side")
    parser.add_argument("folder")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--outputs")
    args = parser.parse_args()
    task = Task.load(args.folder)
    side = import_module(f"sides.{args.side}_side")
    result: dict[str, Any] = {}
    if args.prepare:
        side.prepare(task)
    elif task.kind == "start":
        result["vector"] = side.first_vector(task)
    else:
        run = side.training_step(task) if task.kind == "train" else side.encode(task)
        if args.outputs:
            outputs = [np.asarray(run(batch)) for batch in task.batches()]
            np.savez(args.outputs, *outputs)
        else:
            result["seconds"] = seconds_of_passes(run, task.batches(), task)
    print(json.dumps({**result, "peak_mib": peak_mebibytes(), "versions": versions()}))


if __name__ == "__main__":
    main()
