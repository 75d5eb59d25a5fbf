"""Arrays in blocks that fit the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

from npbert.layers import Array

BLOCK = 32 * 1024
"""Elements in a block: a step of Adam has four arrays and three intermediate results of this size in the cache."""


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
