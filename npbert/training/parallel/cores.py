"""Cores: how many threads each process computes on, so that together they use the machine once."""

from __future__ import annotations

import os
import platform
import warnings

from npbert.compute import set_num_threads
from npbert.training.parallel.communicator import Communicator

CHOSEN_BY = ("NPBERT_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def share_cores(communicator: Communicator) -> None:
    """Compute on as many threads as there are cores for this process, those shared with others counted in part; unless
    an environment variable says on how many.

    Warns: on process 0, when processes have less than a core each.
    """
    if communicator.size == 1:
        return
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    everyone = [(node, set(theirs)) for node, theirs in communicator.gather([platform.node(), cores])]
    room = [_room(everyone, rank) for rank in range(communicator.size)]
    if not any(name in os.environ for name in CHOSEN_BY):
        set_num_threads(max(1, int(room[communicator.rank] + 1e-9)))
    if communicator.is_first and min(room) < 1 - 1e-9:
        rank = room.index(min(room))
        node, theirs = everyone[rank]
        count = sum(name == node and bool(cores & theirs) for name, cores in everyone)
        warnings.warn(
            f"{count} processes share {len(theirs)} core{'s' * (len(theirs) > 1)} of {node}, and wait for each other: "
            "start fewer, or see how the launcher binds them (mpiexec --bind-to none)",
            stacklevel=3,
        )


def _room(everyone: list[tuple[str, set[int]]], rank: int) -> float:
    """How many cores there are for a process: half of one that two may use counts for each."""
    node, cores = everyone[rank]
    return sum(1 / sum(name == node and core in theirs for name, theirs in everyone) for core in cores)
