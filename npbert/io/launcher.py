"""The processes of a launcher, such as mpiexec: how many there are, and what they do together."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID")
"""The environment variables of launchers for the number of processes, and for the rank."""

Item = TypeVar("Item")


def launched() -> int:
    """Return the number of processes of the launcher: 1 without a launcher, 0 if unknown."""
    return _first(SIZES, 0 if "PMIX_RANK" in os.environ else 1)


def launched_rank() -> int:
    """Return the rank of this process, if known: 0 is the first."""
    return _first(RANKS, 0)


def _first(names: Iterable[str], default: int) -> int:
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdecimal()), default)


class Communicator:
    """Process `rank` of `size`, which train one model on parts of the same batches.

    All processes call every method in the same order, and wait for each other. This class is a single process.
    """

    rank = 0
    size = 1

    def gather(self, value: Item) -> list[Item]:
        """Return the values of all processes in order: anything that can be pickled."""
        return self.exchange([value] * self.size)

    def exchange(self, values: Sequence[Item]) -> list[Item]:
        """Send values[k] to process k, and return what each process sends to this one: from itself, the value itself.
        (All-to-all.)"""
        return list(values)

    @contextmanager
    def ending_together(self) -> Iterator[None]:
        """Within it, no process waits forever for a failed one.

        Raises: errors inside it. If not all processes fail, the failing one prints its error and ends them all.
        """
        yield

    @property
    def is_first(self) -> bool:
        """True for the process that writes files and prints."""
        return self.rank == 0

    def own(self, items: Sequence[Item]) -> Sequence[Item]:
        """Return this process's share of the items: neighbors, as many as other processes have, or one more."""
        return items[len(items) * self.rank // self.size : len(items) * (self.rank + 1) // self.size]


ALONE = Communicator()
"""A single process, as without a launcher."""
