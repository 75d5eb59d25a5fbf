"""rowwise: a plain expression over large arrays, computed a few rows at a time. in_blocks: a few elements at a time.

Every operation of NumPy goes through memory once. Over pieces that fit the processor's cache, what lies between the
operations never gets to memory, and several threads can take a piece each.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from npbert.compute.array import Array
from npbert.compute.threads import run, slices

BLOCK = 128 * 1024
"""Elements in a block. Five arrays of this size, in float32, are about what a cache of 2 MiB holds; and an operation on
one is long beside the time that a thread waits for Python's lock before it."""


def rowwise(expression: Callable[..., Any], *arrays: Array) -> Any:
    """expression(*arrays), for an expression that treats every row of its arrays by itself.

    arrays: (N, ...), with the same N and each its own further axes. The expression gets some of the rows of each, or
    small arrays whole; it returns an array (N, ...) or a tuple of such, and so does rowwise.
    """
    if all(array.size <= BLOCK for array in arrays):
        return expression(*arrays)
    of_one_row = expression(*(array[:1] for array in arrays))  # for what it returns, before all threads begin
    outputs = tuple(np.empty((len(arrays[0]), *part.shape[1:]), part.dtype) for part in _as_tuple(of_one_row))

    def store(block: slice) -> None:
        results = expression(*(array[block] for array in arrays))
        for output, result in zip(outputs, _as_tuple(results), strict=True):
            output[block] = result

    count, largest = len(arrays[0]), max(array.size for array in arrays)
    run(store, slices(count, min(count, math.ceil(largest / BLOCK))))  # about BLOCK elements of the largest in each
    return outputs if isinstance(of_one_row, tuple) else outputs[0]


def in_blocks(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """Views of the same stretch of every array, which have one shape, until all is covered.

    An expression over large arrays sends every intermediate result through memory; over blocks they stay in the cache,
    which made a step of Adam five times as fast. Arrays that are not contiguous come whole.
    """
    if not all(array.flags.c_contiguous for array in arrays):
        yield arrays
        return
    flat = [array.reshape(-1) for array in arrays]
    for start in range(0, flat[0].size, BLOCK):
        yield tuple(array[start : start + BLOCK] for array in flat)


def _as_tuple(results: Any) -> tuple[Array, ...]:
    return results if isinstance(results, tuple) else (results,)
