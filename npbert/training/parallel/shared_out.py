"""Evaluation on many processes: each answers its share of the examples, and all get all answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.training.parallel.communicator import Communicator


def shared_out(
    communicator: Communicator, items: Sequence[Any], compute: Callable[[Sequence[Any]], Iterable[Array]]
) -> list[Array]:
    """compute(items), an array for each item, all of one dtype. With N processes, each computes every N-th of them, and
    gets the results of the others."""
    if communicator.size == 1:
        return list(compute(items))
    rank, size = communicator.rank, communicator.size
    chosen = items[rank::size]
    own = list(compute(chosen)) if chosen else []
    described = communicator.gather([[array.dtype.str, array.shape] for array in own])  # by process
    lengths = [[math.prod(shape) for _, shape in theirs] for theirs in described]
    edges = np.cumsum([0, *map(sum, lengths)]).tolist()
    # All numbers in a row: those of process 0, then those of process 1 …
    row = np.empty(edges[-1], next((dtype for theirs in described for dtype, _ in theirs), float))
    if own:
        row[edges[rank] : edges[rank + 1]] = np.concatenate([array.ravel() for array in own])
    communicator.spread(row, edges)
    results = [row] * len(items)
    for number, theirs in enumerate(described):
        starts = edges[number] + np.cumsum([0, *lengths[number]])
        results[number::size] = [
            row[start:end].reshape(shape) for (_, shape), (start, end) in zip(theirs, pairwise(starts), strict=True)
        ]
    return results
