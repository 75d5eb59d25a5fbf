"""Training steps shared by several processes: `mpiexec -n 2 python scaling_step.py b`, started by scaling.py.

Process 0 prints a line of JSON, a list with the numbers of each process: the seconds of each part of a step, in the
median, and its peak memory. By itself, without mpiexec, it is one process. `network` in place of a workload sends
arrays of several sizes, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import peak_mebibytes
from workloads import WORKLOADS

from npbert import AdamW, Batch, BertConfig, BertForPreTraining
from npbert.compute import keep_freed_memory
from npbert.io import Communicator
from npbert.optim import clip_factor
from npbert.training.accumulate import gradients_of
from npbert.training.parallel import Shares, Sums, world

PARTS_OF_A_STEP = ("gradients", "sum and norm", "update", "spread")
WARM_UP = 2


def measure_steps(communicator: Communicator, name: str, passes: int, sequences: int, parts: int) -> dict[str, Any]:
    """A training step as the Trainer makes it, in its parts. sequences: how many; the workload's, again and again."""
    config, (arrays,) = WORKLOADS[name].make("", Path())
    count = sequences or len(arrays["input_ids"])
    batch = Batch(**{kind: np.resize(array, (count, *array.shape[1:])) for kind, array in arrays.items()})
    model = BertForPreTraining(BertConfig(**config), rng=np.random.default_rng(0))
    shares = Shares(model, communicator)
    optimizer = AdamW(shares.parameters, lr=1e-4, weight_decay=0.01)
    norm = 0.0
    sums: Sums = {}

    def gradients() -> None:
        nonlocal sums
        shares.zero_grad()
        _, sums = gradients_of(model, batch, [0, optimizer.steps], shares, parts=parts)

    def add_up() -> None:
        nonlocal norm
        norm = shares.add_up(sums)

    def update() -> None:
        optimizer.step(clip_factor(norm, 1.0))

    work = (gradients, add_up, update, partial(shares.spread, "value"))
    seconds = [[timed(part) for part in work] for _ in range(WARM_UP + passes)][WARM_UP:]
    medians = dict(zip(PARTS_OF_A_STEP, map(statistics.median, zip(*seconds, strict=True)), strict=True))
    values = sum(parameter.value.size for parameter in model.parameters())
    tokens = int(batch.attention_mask.sum())
    return {"step": statistics.median(map(sum, seconds)), **medians, "parameters": values, "tokens": tokens}


def measure_network(communicator: Communicator, passes: int) -> dict[str, Any]:
    """How long an all-reduce of some sizes takes, in bytes, and a gathering of one number from each."""
    found = {}
    for size in (2**12, 2**16, 2**20, 2**23, 2**26):
        shares = [[np.ones(size // communicator.size, np.float32)] for _ in range(communicator.size)]

        def all_reduce(shares: Any = shares) -> None:
            own = sum(array for (array,) in communicator.exchange(shares))
            communicator.exchange([own] * len(shares))

        found[str(4 * size)] = statistics.median([timed(all_reduce) for _ in range(WARM_UP + passes)][WARM_UP:])
    numbers = [timed(lambda: communicator.gather(1)) for _ in range(200)]
    return {"all_reduce": found, "gather": statistics.median(numbers)}


def timed(work: Callable[[], object]) -> float:
    """How many seconds it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload")
    parser.add_argument("--passes", type=int, default=4)
    parser.add_argument("--sequences", type=int, default=0, help="another number of them than the workload's")
    parser.add_argument("--parts", type=int, default=0, help="of a batch; by default as many as processes")
    args = parser.parse_args()
    keep_freed_memory()
    communicator = world()
    with communicator.ending_together():
        if args.workload == "network":
            numbers = measure_network(communicator, args.passes)
        else:
            parts = args.parts or communicator.size
            numbers = measure_steps(communicator, args.workload, args.passes, args.sequences, parts)
    everyone = communicator.gather({**numbers, "rank": communicator.rank, "peak_mib": peak_mebibytes()})
    if communicator.is_first:
        json.dump(everyone, sys.stdout)


if __name__ == "__main__":
    main()
