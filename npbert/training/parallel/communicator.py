"""Communicator: what the processes of one training run tell each other. Alone, there is nothing to tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from npbert.compute import Array

Edges = Sequence[int]
"""Where the shares of a flat array begin and end: process k has array[edges[k] : edges[k + 1]]."""


class Communicator:
    """Process `rank` of `size`, which all train one model on the same batches, each on parts of them.

    Every method is called by all processes, in the same order; each waits until the others are there.

    What training needs is a sum. The gradient of a batch is the sum of those of its parts (accumulate.py has each part
    weigh as much as it has targets), so the processes add up theirs, in one array, once a step: all-reduce, in MPI's
    words. It is made here in two halves, `scatter_sum` and `spread`, so that the optimiser can do its work between
    them, each process on its own share of the parameters.

    None of it has a backward. Summing comes after the last backward, and it *is* a backward: that of giving every
    process a copy of the parameters. What is used at many places gets the sum of what comes back from them, as a tied
    table does.

    This class is one process by itself: a sum over one is what it was.
    """

    rank = 0
    size = 1

    def gather(self, value: Any) -> list[Any]:
        """What each process gives, in the order of the processes: numbers, strings, lists and dicts, as in JSON."""
        return [value]

    def scatter_sum(self, array: Array, edges: Edges) -> None:
        """array[own share] = Σ over the processes of array[own share]. (Reduce-scatter; the rest is left as it is.)"""

    def spread(self, array: Array, edges: Edges) -> None:
        """Every process gets the shares of the others: the whole array is the same everywhere then. (All-gather.)"""

    def collect(self, share: Array, edges: Edges) -> Array | None:
        """The whole array from its shares, on process 0; None on the others. (Gather.)"""
        return share

    @contextmanager
    def ending_together(self) -> Iterator[None]:
        """While it lasts, no process is left behind waiting for one that has failed.

        Raises: what is raised in it. When not all processes fail, the one that does says why and ends them all.
        """
        yield

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes files and speaks."""
        return self.rank == 0

    def own(self, items: Sequence[Any]) -> Sequence[Any]:
        """Those of the items that are this process's share: neighbours, as many as others have or one more."""
        edges = [len(items) * rank // self.size for rank in (self.rank, self.rank + 1)]
        return items[edges[0] : edges[1]]


ALONE = Communicator()
"""One process that trains by itself, as without a launcher."""
