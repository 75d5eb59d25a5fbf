"""Blockwise: a plain expression over large arrays, computed piece by piece.

Every operation of NumPy goes through memory once. Over pieces that fit the processor's cache, what lies between the
operations never gets to memory, and several threads can take a piece each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.layers.parameter import Array, rows
from npbert.threads import num_threads, run, slices

BLOCK = 128 * 1024
"""Elements of the largest array in a block. A few arrays of this size, in float32, are what a cache of 2 MiB holds; and
an operation on one is long beside the time that a thread waits for Python's lock before it."""


def blockwise(expression: Callable[..., Any], *arrays: Array) -> Any:
    """expression(*arrays), for an expression that treats every row of its arrays by itself.

    arrays: (..., D), with the same leading axes and each its own D. The expression gets rows of them, (n, D), or small
    arrays whole; it returns an array (..., E) or a tuple of such, and so does blockwise.
    """
    if all(array.size <= BLOCK for array in arrays):
        return expression(*arrays)
    leading = arrays[0].shape[:-1]
    flat = [rows(array) for array in arrays]
    of_one_row = expression(*(array[:1] for array in flat))  # for what it returns, before all threads begin
    outputs = tuple(np.empty((len(flat[0]), part.shape[-1]), part.dtype) for part in _as_tuple(of_one_row))

    def store(block: slice) -> None:
        results = expression(*(array[block] for array in flat))
        for output, result in zip(outputs, _as_tuple(results), strict=True):
            output[block] = result

    run(store, cut(*flat))
    outputs = tuple(output.reshape(*leading, -1) for output in outputs)
    return outputs if isinstance(of_one_row, tuple) else outputs[0]


def cut(*arrays: Array) -> list[slice]:
    """Slices of the first axis that together cover it, with about BLOCK elements of the largest array in each."""
    count = len(arrays[0])
    pieces = -(-max(array.size for array in arrays) // BLOCK)
    pieces = -(-pieces // num_threads()) * num_threads()  # so that all threads end together
    return slices(count, min(count, pieces))


def _as_tuple(results: Any) -> tuple[Array, ...]:
    return results if isinstance(results, tuple) else (results,)
