"""pad_rows: lists of different lengths as one array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npbert.compute import Array
from npbert.core.checks import check_integers


def pad_rows(rows: Sequence[Sequence[int]], padding: int, *, length: int | None = None, name: str = "a row") -> Array:
    """The N rows as an array (N, T) of integers, filled up at the end with `padding` to the longest, or to `length`.

    Raises: TypeError, calling it `name`, for a row of other things than integers.
    """
    longest = max(map(len, rows)) if length is None else length
    array = np.full((len(rows), longest), padding)
    for target, row in zip(array, rows, strict=True):
        values = np.asarray(row)
        if values.size:  # to NumPy an empty list is of floats
            check_integers(values, name=name)
        target[: len(values)] = values
    return array
