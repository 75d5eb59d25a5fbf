"""The launcher of this process, such as mpiexec: its number of processes, and the rank of this one."""

import os
from collections.abc import Iterable

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID")
"""The environment variables of launchers for the number of processes, and for the rank."""


def launched() -> int:
    """Return the number of processes of the launcher: 1 without a launcher, 0 if unknown."""
    return _first(SIZES, 0 if "PMIX_RANK" in os.environ else 1)


def launched_rank() -> int:
    """Return the rank of this process, if known: 0 is the first."""
    return _first(RANKS, 0)


def _first(names: Iterable[str], default: int) -> int:
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdecimal()), default)
