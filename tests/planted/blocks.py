"""Blocks gone wrong."""

from __future__ import annotations

from npbert.layers import Array, blockwise


def cut_without_the_rest(*arrays: Array) -> list[slice]:
    """Blocks of equal size: the rows that are left over belong to none."""
    count = len(arrays[0])
    size = max(1, blockwise.BLOCK * count // max(array.size for array in arrays))
    return [slice(start * size, (start + 1) * size) for start in range(count // size)]
