"""Errors for predictions and labels that cannot be compared, raised before anything is counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from npbert.compute import Array


def paired(names: tuple[str, str], first: ArrayLike, second: ArrayLike) -> tuple[Array, Array]:
    """Both as arrays (N,). Raises: ValueError unless both are (N,) with the same N, at least 1."""
    pair = np.asarray(first), np.asarray(second)
    for name, array in zip(names, pair, strict=True):
        if array.ndim != 1:
            raise ValueError(f"{name} has shape {array.shape}, wanted (N,): one value an example")
        if len(array) == 0:
            raise ValueError(f"{name} is empty, wanted at least one example")
    if len(pair[0]) != len(pair[1]):
        raise ValueError(f"{names[0]} has {len(pair[0])} values, but {names[1]} has {len(pair[1])}")
    return pair
