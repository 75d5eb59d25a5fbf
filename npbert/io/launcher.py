"""The launcher, as mpiexec is, that has started this process: how many it has started, and which of them this is."""

import os
from collections.abc import Iterable, Mapping

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID")
"""The variables in which launchers say how many processes they have started, and which of them this is."""


def launched(environment: Mapping[str, str] = os.environ) -> int:
    """The count of processes that a launcher has started: 1 without a launcher, 0 when it does not say."""
    return _first(SIZES, environment, 0 if "PMIX_RANK" in environment else 1)


def launched_rank(environment: Mapping[str, str] = os.environ) -> int:
    """The number of this process among those of the launcher, as far as it says one: 0 is the first."""
    return _first(RANKS, environment, 0)


def _first(names: Iterable[str], environment: Mapping[str, str], default: int) -> int:
    return next((int(environment[name]) for name in names if environment.get(name, "").isdecimal()), default)
