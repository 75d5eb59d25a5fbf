"""Processes that train one model together: their launcher, their messages, and what they agree on."""

import itertools
import logging
import os
import pickle
import platform
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from npbert.compute import processors, set_num_threads
from npbert.data import Batch
from npbert.io import ALONE, LOGGER, Communicator, import_extra, in_words, launched, warn
from npbert.training.settings import differences

CHOSEN_BY = ("NPBERT_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
PATIENCE = 2.0
"""The seconds that a failing process waits for the others to fail, too."""

Item = TypeVar("Item")


class MPICommunicator(Communicator):
    """The processes of an MPI communicator. comm: used for nothing else; a `pkl5.Intracomm`, as it does not copy arrays
    to send them."""

    def __init__(self, comm: Any) -> None:
        self.rank, self.size, self._comm = comm.rank, comm.size, comm
        self._failures = comm.Dup()  # separate, as the others may be in another operation

    def gather(self, value: Item) -> list[Item]:
        everyone: list[Item] = self._comm.allgather(value)
        return everyone

    def exchange(self, values: Sequence[Item]) -> list[Item]:
        others: list[Any] = list(values)
        others[self.rank] = None
        received: list[Item] = self._comm.alltoall(others)
        received[self.rank] = values[self.rank]
        return received

    @contextmanager
    def ending_together(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if not self._all_fail():
                self._say(error)
                self._comm.Abort(1)
            raise

    def _say(self, error: BaseException) -> None:
        """Print the error in a line, as the command does; in your own program, with the traceback."""
        if all(isinstance(handler, logging.NullHandler) for handler in LOGGER.handlers):
            traceback.print_exception(error)
        LOGGER.error("process %d of %d: %s", self.rank, self.size, in_words(error))
        sys.stderr.flush()

    def _all_fail(self) -> bool:
        """True if the others fail, too, as for a wrong setting; otherwise they would wait forever."""
        everybody, end = self._failures.Ibarrier(), time.monotonic() + PATIENCE
        while not everybody.Test():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True


def world() -> Communicator:
    """Return all processes of the launcher; ALONE, without MPI, if there is no launcher, or it says that it has started
    one. (Extra: mpi.)

    Raises: MissingExtraError without mpi4py; OSError if the MPI library is not the launcher's.
    """
    count = launched()
    if count == 1:
        return ALONE
    mpi = import_extra("mpi4py.MPI")
    size = mpi.COMM_WORLD.size
    if count and size != count:  # 0: the launcher does not tell
        library = mpi.Get_library_version().split("\n")[0].strip("\0 ")
        says = f"the launcher has started {count} processes, but mpi4py sees {size}, as its MPI library ({library})"
        raise OSError(f"{says} is not the launcher's")
    return MPICommunicator(import_extra("mpi4py.util.pkl5").Intracomm(mpi.COMM_WORLD.Dup()))


def share_cores(communicator: Communicator) -> None:
    """Use as many threads as this process has cores, counting shared ones in part, unless an environment variable sets
    the number.

    Warns: on process 0, if it has less than a core.
    """
    if communicator.size == 1:
        return
    owners = communicator.gather([(platform.node(), core) for core in processors()])
    users = Counter(itertools.chain(*owners))
    room = sum(1 / users[core] for core in owners[communicator.rank])  # a core shared by two counts half
    if not any(name in os.environ for name in CHOSEN_BY):
        set_num_threads(max(1, int(room + 1e-9)))
    if communicator.is_first and room < 1 - 1e-9:
        fix = "start fewer, or bind them differently (mpiexec --bind-to none)"
        warn(f"processes share cores, and wait for each other; {fix}")


def check_same(communicator: Communicator, values: Mapping[str, object]) -> None:
    """Raise ValueError on all processes unless each has the same values by name."""
    first, *others = communicator.gather(values)
    for rank, theirs in enumerate(others, start=1):
        if found := differences(first, theirs):
            raise ValueError(f"process {rank} differs from process 0: {found[0]}")


def check_same_batch(communicator: Communicator, batch: Batch) -> None:
    """Raise ValueError on all processes unless each has read the same batch."""
    if communicator.size > 1:
        check_same(communicator, {"checksum of the batch": zlib.crc32(pickle.dumps(vars(batch)))})
