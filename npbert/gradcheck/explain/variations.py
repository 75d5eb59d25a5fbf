"""VARIATIONS, and resized: kinds of floats, and sizes, so nothing is right only for some of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array

VARIATIONS = (
    ("", np.copy),
    ("arrays lie in memory column by column, as x.T does", lambda array: np.array(array, order="F")),
    ("some numbers are 0, and some are equal", np.round),
    ("numbers are large", lambda array: 10 * array),
)
"""In words, with a function from usual numbers, of size 1."""


def in_manner(array: Array, number: int) -> Array:
    """Return a copy of the array in one of the manners. An array without axes is unchanged."""
    return VARIATIONS[number % len(VARIATIONS) if array.ndim else 0][1](array)


def resized(inputs: Sequence[Any], more: int) -> Iterator[list[Any]]:
    """Yield the inputs, larger by `more` along every axis, along those as long as the rows, or along the first; and
    last the unchanged inputs."""
    arrays = [value for value in inputs if isinstance(value, np.ndarray) and value.ndim]
    rows = max((len(value) for value in arrays if value.dtype.kind == "f"), default=0)
    every = {size for value in arrays for size in value.shape}
    for sizes, axes in ((every, None), ({rows}, None), ({rows}, 1), (set(), 0)):
        yield [_grown(value, sizes, axes, more) if isinstance(value, np.ndarray) else value for value in inputs]


def _grown(value: Array, sizes: set[int], axes: int | None, more: int) -> Array:
    """Return the value, larger along those of the first `axes` that have one of these sizes: by 0 in the rows of a mask
    or of one-hot labels, otherwise by what it has."""
    is_mask = np.isin(value, (0, 1)).all()
    for axis, size in enumerate(value.shape[:axes]):
        if size in sizes:
            larger = np.take(value, np.arange(size + more) % size, axis=axis)
            if is_mask and axis:
                np.moveaxis(larger, axis, 0)[size:] = 0
            value = larger
    return value
