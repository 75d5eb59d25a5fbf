"""Communicator: what the processes of one training run tell each other. Alone, there is nothing to tell."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from npbert.compute import Array

Item = TypeVar("Item")


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
        """Those of the items that are this process's share: neighbours, as many as others have or one more."""
        return items[len(items) * self.rank // self.size : len(items) * (self.rank + 1) // self.size]


ALONE = Communicator()
"""One process that trains by itself, as without a launcher."""


def shared_out(
    communicator: Communicator,
    items: Sequence[Item],
    groups: Sequence[Sequence[int]],
    compute: Callable[[Sequence[Item]], Iterable[Array]],
) -> list[Array]:
    """compute(items), an array for each item. With N processes, each computes every N-th group of them, and gets the
    results of the others.

    groups: the numbers of the items that `compute` takes together, as another batch may give other last bits.
    """
    if communicator.size == 1:
        return list(compute(items))
    found: dict[int, Array] = {}
    for group in groups[communicator.rank :: communicator.size]:
        found |= zip(group, compute([items[number] for number in group]), strict=True)
    everyone = {number: array for theirs in communicator.gather(found) for number, array in theirs.items()}
    return [everyone[number] for number in range(len(items))]
