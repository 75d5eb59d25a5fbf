"""Many processes, one training run: what they tell each other, and what each of them does."""

from npbert.training.parallel.communicator import ALONE, Communicator, shared_out
from npbert.training.parallel.mpi import LauncherError, launch_command, share_cores, world
from npbert.training.parallel.same import (
    check_same_batch,
    check_same_folder,
    check_same_run,
    done_by_the_first,
)
from npbert.training.parallel.shares import Shares, Sums, add_arrays
from npbert.training.parallel.tree import add_up

__all__ = [
    "Communicator",
    "ALONE",
    "LauncherError",
    "world",
    "launch_command",
    "done_by_the_first",
    "Shares",
    "Sums",
    "add_up",
    "add_arrays",
    "shared_out",
    "share_cores",
    "check_same_run",
    "check_same_batch",
    "check_same_folder",
]
