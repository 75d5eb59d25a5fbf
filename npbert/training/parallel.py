"""Processes that train one model together: who has started them, how they talk, and how they share work."""

import logging
import os
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from npbert.compute import Array, set_num_threads
from npbert.io.extras import MissingExtraError, import_extra
from npbert.io.launcher import launched, launched_rank
from npbert.io.messages import LOGGER, in_words

CHOSEN_BY = ("NPBERT_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
PATIENCE = 2.0
"""For how many seconds a process that fails waits for the others to fail, too."""

Item = TypeVar("Item")


class LauncherError(OSError):
    """A launcher has started several processes, but they cannot talk to each other."""


class Communicator:
    """Process `rank` of `size`, which all train one model on the same batches, each on parts of them.

    Every method is called by all processes, in the same order; each waits until the others are there.

    This class is one process by itself.
    """

    rank = 0
    size = 1

    def gather(self, value: Item) -> list[Item]:
        """The values that the processes give, in their order: anything that can be pickled."""
        return [value]

    def exchange(self, given: Sequence[Sequence[Array]], wanted: Sequence[Sequence[Array]]) -> None:
        """Send the arrays given[k] to process k, and fill the arrays wanted[k] with what it sends, for all others. All
        are contiguous, and those that are sent have the sizes of those that wait for them. (All-to-all.)"""

    @contextmanager
    def ending_together(self) -> Iterator[None]:
        """While it lasts, no process is left behind waiting for one that has failed.

        Raises: what is raised in it. When not all processes fail, the one that does says why and ends them all.
        """
        yield

    @property
    def is_first(self) -> bool:
        """True for the process that writes files and speaks."""
        return self.rank == 0

    def own(self, items: Sequence[Item]) -> Sequence[Item]:
        """Those of the items that are this process's share: neighbors, as many as others have or one more."""
        return items[len(items) * self.rank // self.size : len(items) * (self.rank + 1) // self.size]


ALONE = Communicator()
"""One process that trains by itself, as without a launcher."""


class MPICommunicator(Communicator):
    """The processes of an MPI communicator. comm: one that nobody else uses. mpi: the module mpi4py.MPI."""

    def __init__(self, comm: Any, mpi: Any) -> None:
        self.rank, self.size = comm.rank, comm.size
        self._comm, self._mpi = comm, mpi
        self._failures = comm.Dup()  # apart, as the others may be in the middle of something else

    def gather(self, value: Item) -> list[Item]:
        everyone: list[Item] = self._comm.allgather(value)
        return everyone

    def exchange(self, given: Sequence[Sequence[Array]], wanted: Sequence[Sequence[Array]]) -> None:
        """In round k, each process sends to the process k places on, and receives from that k places before it."""
        for distance in range(1, self.size):
            to, source = (self.rank + distance) % self.size, (self.rank - distance) % self.size
            requests = [self._comm.Irecv(array, source) for array in wanted[source] if array.size]
            for array in given[to]:
                if array.size:
                    self._comm.Send(array, to)
            self._mpi.Request.Waitall(requests)

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
        """In a line, as the command does; in a program of one's own with the places that the error came through."""
        if all(isinstance(handler, logging.NullHandler) for handler in LOGGER.handlers):
            traceback.print_exception(error)
        LOGGER.error("process %d of %d: %s", self.rank, self.size, in_words(error))
        sys.stderr.flush()

    def _all_fail(self) -> bool:
        """True if the others come here, too, as when a setting is wrong; alone, one would wait for them forever."""
        everybody, end = self._failures.Ibarrier(), time.monotonic() + PATIENCE
        while not everybody.Test():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True


def world() -> Communicator:
    """All processes that the launcher has started; ALONE, without a look at MPI, where there is no launcher or it has
    started one. (Extra: mpi.)

    Raises: MissingExtraError without mpi4py; LauncherError when the MPI library is not that of the launcher.
    """
    count = launched()
    if count == 1:
        return ALONE
    try:
        mpi = _mpi_of(count)
    except (MissingExtraError, LauncherError):
        if launched_rank():
            LOGGER.setLevel("CRITICAL")  # the first process alone says what is wrong for all
        raise
    return MPICommunicator(mpi.COMM_WORLD.Dup(), mpi) if mpi.COMM_WORLD.size > 1 else ALONE


def _mpi_of(count: int) -> Any:
    """The module mpi4py.MPI, which sees as many processes as the launcher says, if it does not say 0."""
    try:
        mpi = import_extra("mpi4py.MPI", extra="mpi")
    except RuntimeError as error:  # mpi4py is there, but finds no library of MPI
        raise LauncherError(f"mpi4py finds no MPI: {error}; to install one: pip install mpich") from error
    if count and mpi.COMM_WORLD.size != count:
        library = mpi.Get_library_version().split("\n")[0].strip("\0 ")
        raise LauncherError(
            f"the launcher has started {count} processes, but mpi4py sees {mpi.COMM_WORLD.size}, as its MPI library "
            f"({library}) is not the launcher's"
        )
    return mpi


def launch_command(count: int, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The command that starts `count` processes as these were started: by srun, where they are a step of Slurm's;
    else mpiexec, which comes with every MPI."""
    by_slurm = environment.get("SLURM_STEP_NUM_TASKS") == str(launched(environment))
    return ["srun" if by_slurm else "mpiexec", "-n", str(count)]


def share_cores(communicator: Communicator) -> None:
    """Compute on as many threads as there are cores for this process, those shared with others counted in part; unless
    an environment variable says on how many.

    Warns: on process 0, when processes have less than a core each.
    """
    if communicator.size == 1:
        return
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    owners = communicator.gather([(platform.node(), core) for core in cores])
    users = [core for theirs in owners for core in theirs]
    room = [sum(1 / users.count(core) for core in theirs) for theirs in owners]  # half of a core that two may use
    if not any(name in os.environ for name in CHOSEN_BY):
        set_num_threads(max(1, int(room[communicator.rank] + 1e-9)))
    if communicator.is_first and min(room) < 1 - 1e-9:
        theirs = owners[room.index(min(room))]
        count = sum(not set(theirs).isdisjoint(each) for each in owners)
        warnings.warn(
            f"{count} processes share {len(theirs)} core{'s' * (len(theirs) > 1)} of {theirs[0][0]}, and wait "
            f"for each other; start fewer, or bind them differently (mpiexec --bind-to none)",
            stacklevel=3,
        )
