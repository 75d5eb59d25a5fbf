"""Many processes, one training run: what they tell each other, and what each of them does."""

from npbert.training.parallel.communicator import ALONE, Communicator
from npbert.training.parallel.cores import share_cores
from npbert.training.parallel.first import done_by_the_first
from npbert.training.parallel.mpi import LauncherError, MPICommunicator, launch_command, launched, launched_rank, world
from npbert.training.parallel.same import check_parts, check_same_batch, check_same_folder, check_same_run
from npbert.training.parallel.shared_out import shared_out
from npbert.training.parallel.shares import Piece, Shares
from npbert.training.parallel.silent import SILENT, in_silence

__all__ = [
    "Communicator",
    "ALONE",
    "MPICommunicator",
    "LauncherError",
    "world",
    "launched",
    "launched_rank",
    "launch_command",
    "done_by_the_first",
    "Shares",
    "Piece",
    "shared_out",
    "SILENT",
    "in_silence",
    "share_cores",
    "check_parts",
    "check_same_run",
    "check_same_batch",
    "check_same_folder",
]
