"""The launcher, as mpiexec is, that has started this process: how many it has started, and which of them this is."""

import os
from collections.abc import Mapping

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID")
"""The variables in which launchers say how many processes they have started, and which of them this is."""


def launched(environment: Mapping[str, str] = os.environ) -> int:
    """The count of processes that a launcher has started: 1 without a launcher, 0 when it does not say."""
    count = next((environment[name] for name in SIZES if environment.get(name, "").isdecimal()), "")
    return int(count) if count else 0 if "PMIX_RANK" in environment else 1


def launched_rank(environment: Mapping[str, str] = os.environ) -> int:
    """The number of this process among those of the launcher, as far as it says one: 0 is the first."""
    rank = next((environment[name] for name in RANKS if environment.get(name, "").isdecimal()), "0")
    return int(rank)
