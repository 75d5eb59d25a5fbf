"""Communicator: what the processes of one training run tell each other. Alone, there is nothing to tell."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from npbert.compute import Array
from npbert.training.parallel.tree import TreeSum

Edges = Sequence[int]
"""The ends of the shares of a flat array: process k has array[edges[k] : edges[k + 1]]."""


class Communicator:
    """Process `rank` of `size`, which all train one model on the same batches, each on parts of them.

    Every method is called by all processes, in the same order; each waits until the others are there.

    What training needs is a sum: the gradient of a batch is the sum of those of its parts. The processes add up theirs
    once a step (all-reduce, in MPI's words), in two halves, `scatter_sum` and `spread`: between them, each updates its
    own share of the parameters. docs/scaling.md says why a sum needs no backward.

    This class is one process by itself: a sum over one is what it was.
    """

    rank = 0
    size = 1

    def gather(self, value: Any) -> list[Any]:
        """The values that the processes give, in their order: anything that can be pickled."""
        return [value]

    def scatter_sum(self, sums: TreeSum, array: Array, edges: Edges) -> None:
        """array[own share] = Σ over all parts, of which `sums` holds those of this process, each of them one array like
        this. (Reduce-scatter; the rest may hold anything then.)"""
        array[:] = sums.whole[0]

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
        """True for the process that writes files and speaks."""
        return self.rank == 0

    def own(self, items: Sequence[Any], rank: int | None = None) -> Sequence[Any]:
        """Those of the items that are this process's share: neighbours, as many as others have or one more. rank: of
        another process, for its share."""
        rank = self.rank if rank is None else rank
        return items[len(items) * rank // self.size : len(items) * (rank + 1) // self.size]


ALONE = Communicator()
"""One process that trains by itself, as without a launcher."""


def shared_out(
    communicator: Communicator,
    items: Sequence[Any],
    groups: Sequence[Sequence[int]],
    compute: Callable[[Sequence[Any]], Iterable[Array]],
) -> list[Array]:
    """compute(items), an array for each item. With N processes, each computes every N-th group of them, and gets the
    results of the others.

    groups: the numbers of the items that `compute` takes together, as another batch may give other last bits.
    """
    if communicator.size == 1:
        return list(compute(items))
    rank, size = communicator.rank, communicator.size
    own = [array for group in groups[rank::size] for array in compute([items[number] for number in group])]
    numbers = [number for other in range(size) for group in groups[other::size] for number in group]
    arrays = (array for theirs in communicator.gather(own) for array in theirs)
    found = dict(zip(numbers, arrays, strict=True))
    return [found[number] for number in range(len(items))]
