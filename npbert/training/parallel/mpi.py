"""MPI: the processes that a launcher (mpirun, mpiexec, srun) has started, on one machine or on many."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.extras import MissingExtraError, import_extra
from npbert.messages import LOGGER, in_words
from npbert.training.parallel.communicator import ALONE, Communicator, Edges

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID")
"""Where launchers say how many processes they have started, and which of them this is."""

PATIENCE = 2.0
"""For how many seconds a process that fails waits for the others to fail, too."""


class LauncherError(OSError):
    """A launcher has started several processes, but they cannot talk to each other."""


def world() -> Communicator:
    """All processes that the launcher has started; ALONE, without a look at MPI, where there is no launcher or it has
    started one. (Extra: mpi.)

    Raises: MissingExtraError without mpi4py; LauncherError when the MPI library is not that of the launcher.
    """
    count = launched()
    if count == 1:
        return ALONE
    try:
        mpi = import_extra("mpi4py.MPI", extra="mpi")
    except MissingExtraError:
        _quieten(os.environ)
        raise
    except RuntimeError as error:  # mpi4py is there, but finds no library of MPI
        _quieten(os.environ)
        raise LauncherError(f"mpi4py finds no MPI: {error}; pip install mpich is one") from error
    if count and mpi.COMM_WORLD.size != count:
        _quieten(os.environ)
        library = mpi.Get_library_version().split("\n")[0].strip("\0 ")
        raise LauncherError(
            f"the launcher has started {count} processes, and mpi4py sees {mpi.COMM_WORLD.size}, as its library "
            f"({library}) is of another MPI than the launcher"
        )
    return MPICommunicator(mpi.COMM_WORLD.Dup(), mpi) if mpi.COMM_WORLD.size > 1 else ALONE


def launched(environment: Mapping[str, str] = os.environ) -> int:
    """How many processes a launcher has started, with this one: 1 without a launcher, 0 when it does not say."""
    count = next((environment[name] for name in SIZES if environment.get(name, "").isdecimal()), "")
    return int(count) if count else 0 if "PMIX_RANK" in environment else 1


def launched_rank(environment: Mapping[str, str] = os.environ) -> int:
    """Which of the processes of a launcher this is, as far as the launcher says: 0 is the first."""
    rank = next((environment[name] for name in RANKS if environment.get(name, "").isdecimal()), "0")
    return int(rank)


def launch_command(count: int, environment: Mapping[str, str] = os.environ) -> list[str]:
    """How to start `count` processes with the launcher that has started these: srun, where they are a step of Slurm's;
    else mpiexec, which comes with every MPI."""
    by_slurm = environment.get("SLURM_STEP_NUM_TASKS") == str(launched(environment))
    return ["srun" if by_slurm else "mpiexec", "-n", str(count)]


def _quieten(environment: Mapping[str, str]) -> None:
    """What is wrong for all processes is said by the first alone."""
    if launched_rank(environment):
        LOGGER.setLevel("CRITICAL")


class MPICommunicator(Communicator):
    """The processes of an MPI communicator. comm: one that nobody else uses. mpi: the module mpi4py.MPI."""

    def __init__(self, comm: Any, mpi: Any) -> None:
        self.rank, self.size = comm.rank, comm.size
        self._comm, self._mpi = comm, mpi
        self._failures = comm.Dup()  # apart, as the others may be in the middle of something else

    def gather(self, value: Any) -> list[Any]:
        data = np.frombuffer(json.dumps(value).encode(), np.uint8)
        lengths = np.empty(self.size, np.int64)
        self._comm.Allgather(np.array([data.size]), lengths)
        everything = np.empty(lengths.sum(), np.uint8)
        self._comm.Allgatherv(data, [everything, lengths])
        ends = np.cumsum(lengths)
        return [json.loads(each.tobytes()) for each in np.split(everything, ends[:-1])]

    def scatter_sum(self, array: Array, edges: Edges) -> None:
        """In round k, each process hands the process k places on the share that is that one's: so the order of the sum
        is fixed, nobody holds more than one share besides the array, and each byte is sent once."""
        shares = self._shares(array, edges)
        own = shares[self.rank]
        received = np.empty_like(own)
        for to, source in self._rounds():
            self._comm.Sendrecv(shares[to], to, recvbuf=received, source=source)
            own += received

    def spread(self, array: Array, edges: Edges) -> None:
        """In round k, each process hands the process k places on its own share: so MPICH took half the time of its
        Allgatherv."""
        shares = self._shares(array, edges)
        for to, source in self._rounds():
            self._comm.Sendrecv(shares[self.rank], to, recvbuf=shares[source], source=source)

    def collect(self, share: Array, edges: Edges) -> Array | None:
        whole = np.empty(edges[-1], share.dtype) if self.is_first else None
        received = None if whole is None else [whole, (np.diff(edges), edges[:-1])]
        self._comm.Gatherv(share, received)
        return whole

    @contextmanager
    def ending_together(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if not self._all_fail():
                self._say(error)
                self._comm.Abort(1)
            raise

    def _rounds(self) -> Iterator[tuple[int, int]]:
        """To whom this process sends, and from whom it receives at the same time."""
        for distance in range(1, self.size):
            yield (self.rank + distance) % self.size, (self.rank - distance) % self.size

    def _shares(self, array: Array, edges: Edges) -> list[Array]:
        return [array[edges[rank] : edges[rank + 1]] for rank in range(self.size)]

    def _say(self, error: BaseException) -> None:
        """In a line, as the command does; in a program of one's own with the places that the error came through."""
        if all(isinstance(handler, logging.NullHandler) for handler in LOGGER.handlers):
            traceback.print_exception(error)
        LOGGER.error("process %d of %d: %s", self.rank, self.size, in_words(error))
        sys.stderr.flush()

    def _all_fail(self) -> bool:
        """Whether the others come here, too, as when a setting is wrong; alone, one would wait for them forever."""
        everybody, end = self._failures.Ibarrier(), time.monotonic() + PATIENCE
        while not everybody.Test():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True
