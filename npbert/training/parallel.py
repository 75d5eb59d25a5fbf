"""Processes that train one model together: their launcher, their messages, what they agree on, and their shares of the
parameters: each adds up the gradients of its share, updates it, and keeps its moments."""

import itertools
import logging
import math
import os
import pickle
import platform
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from npbert.compute import Array, in_blocks, processors, run, set_num_threads
from npbert.core import Layer, Parameter
from npbert.data import Batch
from npbert.io import ALONE, LOGGER, Communicator, import_extra, in_words, launched, warn
from npbert.optim.clipping import block_squares
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

    def exchange(self, values: Sequence[Item]) -> list[Item]:
        others: list[Any] = list(values)
        others[self.rank] = None
        received = self._comm.alltoall(others)
        received[self.rank] = values[self.rank]
        return received

    @contextmanager
    def ending_together(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if not self._all_fail():  # say it in a line, as the command does; in your own program, with the traceback
                if all(isinstance(handler, logging.NullHandler) for handler in LOGGER.handlers):
                    traceback.print_exception(error)
                LOGGER.error("process %d of %d: %s", self.rank, self.size, in_words(error))
                sys.stderr.flush()
                self._comm.Abort(1)
            raise

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
    one. Each process then computes on its share of the machine's cores. (Extra: mpi.)

    Raises: ImportError without mpi4py; OSError if the MPI library is not the launcher's.
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
    communicator = MPICommunicator(import_extra("mpi4py.util.pkl5").Intracomm(mpi.COMM_WORLD.Dup()))
    share_cores(communicator)
    return communicator


def share_cores(communicator: Communicator) -> None:
    """Use as many threads as this process has cores, divided by the most processes that share one, unless an
    environment variable sets the number.

    Warns: on process 0, if it has less than a core.
    """
    owners = communicator.gather([(platform.node(), core) for core in processors()])
    users, own = Counter(itertools.chain(*owners)), owners[communicator.rank]
    threads = len(own) // max(users[core] for core in own)
    if not any(name in os.environ for name in CHOSEN_BY):
        set_num_threads(max(1, threads))
    if communicator.is_first and not threads:
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


Sums = dict[range, list[Array]]
"""Sums of the gradients of some parts of a batch, as in `add_up`: an array for each parameter of the model."""


def add_up(sums: Sums, parts: range) -> Sums:
    """Add up these sums as far as possible, in place, and return the rest, in order: the sum of all `parts`, if it has
    all of them.

    The sum of parts 2 and 3 is sums[range(2, 4)], and part 5 alone is sums[range(5, 6)].

    A sum of parts is the sum of the first half plus the sum of the second half, recursively. With rounding, (a + b) + c
    differs from a + (b + c), so the order decides the last bits. Here it depends only on the number of parts. A chain,
    ((0 + 1) + 2) + 3, would save the memory of a gradient on one thread. But a process with parts 2 and 3 would have to
    keep and send both; in a tree it sends their sum.
    """
    if parts in sums or len(parts) == 1:
        return {parts: sums[parts]} if parts in sums else {}
    middle = (len(parts) + 1) // 2
    first, second = parts[:middle], parts[middle:]
    halves = add_up(sums, first) | add_up(sums, second)
    if first not in halves or second not in halves:
        return halves
    run(lambda pair: np.add(*pair, out=pair[0]), zip(halves[first], halves[second], strict=True))
    return {parts: halves[first]}


class Shares:
    """A model's parameters, of which each process updates a share; a single process updates all.

    AdamW keeps two numbers for each parameter, and the update of a parameter needs no other. So each process keeps the
    moments of its share, and does its share of the work. (Rajbhandari et al. 2020, "ZeRO", section 5.1, its first
    stage.) A step then is:

        gradients_of     forward and backward of the own parts
        add_up           each process gets the sum of the gradients of its share: the first half of an all-reduce
        an optimizer's step on `parameters`
        spread("value")  each process gets the values of the other shares: the second half

    names, all: the parameters of the model. parameters: for the optimizer, this process's share of each, a view of its
    value; for a single process, the model's parameters.
    """

    def __init__(self, model: Layer, communicator: Communicator) -> None:
        self.communicator = communicator
        self.names, self.all = zip(*model.named_parameters(), strict=True)
        for parameter in self.all:
            parameter.value = np.asanyarray(parameter.value, order="C")  # so that a share is a view
        values = [parameter.value for parameter in self.all]
        ends = np.cumsum([0, *(block.size for value in values for (block,) in in_blocks(value))])
        equal = ends[-1] * np.arange(communicator.size + 1) // communicator.size
        self._edges = ends[np.searchsorted(ends, equal)].tolist()  # of the shares, in all numbers in a row
        self.parameters: Sequence[Parameter] = self.all
        if communicator.size > 1:
            self.parameters = list(map(Parameter, self.cut(values, communicator.rank)))

    def zero_grad(self) -> None:
        """Set every gradient to 0."""
        for parameter in (*self.all, *self.parameters):
            parameter.zero_grad()

    def add_up(self, sums: Sums) -> float:
        """Add the sum over all parts, on all processes, to the gradients of `parameters`. Returns its norm over all
        shares.

        It only adds: each gradient already has the weight n/N of its part (`gradients_of`).

        The norm is the same for any number of processes, as a share ends with a block.
        """
        communicator, terms = self.communicator, Sums()
        given = [{parts: list(self.cut(sums[parts], rank)) for parts in sums} for rank in range(communicator.size)]
        for theirs in communicator.exchange(given):
            terms |= theirs
        (totals,) = add_up(terms, range(max(parts.stop for parts in terms))).values()
        for parameter, total in zip(self.parameters, totals, strict=True):
            parameter.add_grad(total.reshape(parameter.value.shape))
        return math.sqrt(np.concatenate(communicator.gather(block_squares(self.parameters))).sum())

    def spread(self, name: str) -> None:
        """Give all processes the arrays of all shares: their updated `value`, or, for watchers, the summed `grad`."""
        if self.communicator.size > 1:
            own = [getattr(parameter, name) for parameter in self.parameters]
            for parameter, array in zip(self.all, self.whole(own), strict=True):
                getattr(parameter, name)[...] = array

    def whole(self, own: list[Array]) -> Iterable[Array]:
        """Return whole arrays for all parameters, one after another, from the shares of all processes."""
        if self.communicator.size == 1:
            return own
        pairs = zip(self.all, *self.communicator.gather(own), strict=True)
        return (np.concatenate(arrays, axis=None).reshape(each.value.shape) for each, *arrays in pairs)

    def cut(self, arrays: Iterable[Array], rank: int) -> Iterator[Array]:
        """Yield the share of a process in whole arrays, one for each parameter: views with as many axes, so that a
        matrix stays one, for weight decay.

        All numbers in a row are cut into shares of about equal size, each at the beginning of a block of `in_blocks`.
        """
        (first, last), start = self._edges[rank : rank + 2], 0
        for array in arrays:
            flat = array.reshape(-1)[max(0, first - start) : max(0, last - start)]
            yield flat.reshape(*(1,) * (array.ndim - 1), -1)
            start += array.size
