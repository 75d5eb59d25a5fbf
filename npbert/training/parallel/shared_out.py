"""Evaluation on many processes: each answers its share of the examples, and all get all answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.training.parallel.communicator import Communicator


def shared_out(
    communicator: Communicator, items: Sequence[Any], compute: Callable[[Sequence[Any]], Iterable[Array]]
) -> list[Array]:
    """compute(items), an array for each: every process computes every size-th of them, and gets the others' results."""
    if communicator.size == 1:
        return list(compute(items))
    chosen = items[communicator.rank :: communicator.size]
    own = list(compute(chosen)) if chosen else []
    described = communicator.gather([[array.dtype.str, array.shape] for array in own])
    sizes = [[math.prod(shape) for _, shape in theirs] for theirs in described]
    edges = np.cumsum([0, *map(sum, sizes)]).tolist()
    numbers = np.empty(edges[-1], *{dtype for theirs in described for dtype, _ in theirs})
    numbers[slice(*edges[communicator.rank :][:2])] = np.concatenate([*map(np.ravel, own), numbers[:0]])
    communicator.spread(numbers, edges)
    results = [numbers] * len(items)
    for rank, theirs in enumerate(described):
        flat = np.split(numbers[edges[rank] : edges[rank + 1]], np.cumsum(sizes[rank])[:-1])
        results[rank :: communicator.size] = [
            array.reshape(shape) for array, (_, shape) in zip(flat, theirs, strict=False)
        ]
    return results
