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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from npbert.compute import Array, processors, run, set_num_threads
from npbert.core import Layer
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
    communicator = MPICommunicator(import_extra("mpi4py.util.pkl5").Intracomm(mpi.COMM_WORLD.Dup()))
    share_cores(communicator)
    return communicator


def share_cores(communicator: Communicator) -> None:
    """Use as many threads as this process has cores, counting shared ones in part, unless an environment variable sets
    the number.

    Warns: on process 0, if it has less than a core.
    """
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


Sums = dict[range, dict[str, Array]]
"""Sums of the gradients of some parts of a batch, as in `add_up`: an array for each parameter by name."""


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
    left, right = add_up(sums, first), add_up(sums, second)
    if first not in left or second not in right:
        return left | right
    run(lambda pair: np.add(*pair, out=pair[0]), list(zip(left[first].values(), right[second].values(), strict=True)))
    return {parts: left[first]}


class Shares:
    """A model's parameters, of which each process updates some; a single process updates all.

    AdamW keeps two numbers for each value, and the update of a parameter needs no other. So each process keeps the
    moments of its own parameters, and does its share of the work. (Rajbhandari et al. 2020, "ZeRO", section 5.1, its
    first stage.) A step then is:

        gradients_of     forward and backward of the own parts
        add_up           each process gets the sums of its gradients: the first half of an all-reduce
        an optimizer's step on the `own` parameters
        spread_values    each process gets the values of the others: the second half

    all: the parameters of the model by name. owned: the names of each process's. own: the parameters of this process.
    """

    def __init__(self, model: Layer, communicator: Communicator) -> None:
        self.communicator, self.all = communicator, dict(model.named_parameters())
        self.owned = _share_out({name: each.value.size for name, each in self.all.items()}, communicator.size)
        self.own = {name: self.all[name] for name in self.owned[communicator.rank]}

    def add_up(self, sums: Sums) -> float:
        """Add the sum over all parts, on all processes, to the gradients of the own parameters. Returns its norm over
        all parameters, the same for any number of processes."""
        communicator, terms = self.communicator, Sums()
        given = [{parts: {name: sums[parts][name] for name in names} for parts in sums} for names in self.owned]
        for theirs in communicator.exchange(given):
            terms |= theirs
        (totals,) = add_up(terms, range(max(parts.stop for parts in terms))).values()
        for name, parameter in self.own.items():
            parameter.add_grad(totals[name])
        squares = np.concatenate(communicator.gather(block_squares(self.own.values())))
        return math.sqrt(np.sort(squares).sum())  # in an order that does not depend on the owners

    def spread_gradients(self) -> None:
        """Give all processes the summed gradients of the model, for watchers."""
        for name, gradient in self.whole([parameter.grad for parameter in self.own.values()]).items():
            self.all[name].zero_grad()
            self.all[name].add_grad(gradient)

    def spread_values(self) -> None:
        """Give all processes the updated values of all parameters."""
        for name, value in self.whole([parameter.value for parameter in self.own.values()]).items():
            if name not in self.own:
                self.all[name].value[...] = value

    def whole(self, own: list[Array]) -> dict[str, Array]:
        """Return arrays for all parameters by name, from those that each process has for its own."""
        everyones = itertools.chain(*self.communicator.exchange([own] * self.communicator.size))
        return dict(zip(itertools.chain(*self.owned), everyones, strict=True))


def _share_out(sizes: Mapping[str, int], count: int) -> list[list[str]]:
    """Return, for each of `count` processes, the names of its parameters: the next largest parameter always goes to the
    process with the fewest values so far."""
    shares: list[list[str]] = [[] for _ in range(count)]
    loads = [0] * count
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        rank = loads.index(min(loads))
        shares[rank].append(name)
        loads[rank] += sizes[name]
    return shares
