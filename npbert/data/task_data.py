"""TaskData: labelled examples in memory, in a new random order every epoch. Position: the place of a batch in an
epoch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from npbert.data.batch import Batch
from npbert.io import at_least, counted


class Position(NamedTuple):
    """The number of a group of the data, which is in memory at once, and of a batch in the group; both from 0."""

    group: int = 0
    batch: int = 0


START = Position()


@dataclass(frozen=True, repr=False)
class TaskData:
    """Batches of `batch_size` examples, by `collate`; the last of an epoch may be smaller.

    Raises: ValueError unless batch_size is at least 1.
    """

    examples: Sequence[Any]
    collate: Callable[[Sequence[Any]], Batch]
    batch_size: int = 32

    def __post_init__(self) -> None:
        at_least(1).check("batch_size", self.batch_size)

    def __repr__(self) -> str:
        return f"TaskData of {counted(len(self.examples), 'example')}, in batches of {self.batch_size}"

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        return -(-len(self.examples) // self.batch_size)

    def batches(self, epoch_seed: int, place: Position = START) -> Iterator[tuple[Position, Batch]]:
        """Yield the batches of the epoch with this seed from `place` on, each with its place."""
        order = np.random.default_rng(epoch_seed).permutation(len(self.examples))
        for number in range(place.batch, len(self)):
            chosen = order[number * self.batch_size : (number + 1) * self.batch_size]
            yield Position(0, number), self.collate([self.examples[index] for index in chosen])
