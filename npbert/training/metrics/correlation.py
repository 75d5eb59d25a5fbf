"""Metrics of numbers: do the predictions rise with the labels?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from npbert.compute import Array
from npbert.training.metrics.checks import paired


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's correlation: 1 when y is a rising straight line in x, −1 when a falling one, about 0 for guessing.

    r = Σ (xᵢ − x̄)(yᵢ − ȳ) / √(Σ (xᵢ − x̄)² · Σ (yᵢ − ȳ)²)  in float64   x, y (N,)

    nan where it is undefined: a constant side, as a single example is, makes it 0 / 0. A metric of STS-B. (Wang et al.
    2018, "GLUE", section 3.2.)

    Raises: TypeError unless both hold integers or floats; ValueError for other shapes, different lengths, no example,
    or a number that is not finite.
    """
    x, y = _numbers(x, y)
    if np.all(x == x[0]) or np.all(y == y[0]):
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rank correlation: 1 when y rises wherever x does, in whatever curve.

    It is Pearson's correlation of the ranks, where equal values share the mean of theirs; nan where a side is constant.
    x, y (N,). A metric of STS-B. (Wang et al. 2018, "GLUE", section 3.2.) Raises: as pearson.
    """
    x, y = _numbers(x, y)
    return pearson(_ranks(x), _ranks(y))


def _numbers(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    names = "x", "y"
    pair = paired(names, x, y)
    for name, array in zip(names, pair, strict=True):
        if array.dtype.kind not in "iuf":
            raise TypeError(f"{name} must hold integers or floats, got {array.dtype}")
        finite = np.isfinite(array)
        if not finite.all():
            place = int(np.argmin(finite))
            raise ValueError(f"{name}[{place}] is {array[place]}, wanted finite numbers")
    return pair


def _ranks(x: Array) -> Array:
    """The rank of each value, from 1 on. Values that tie for ranks a to b all have the rank (a + b) / 2."""
    _, numbers, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[numbers]
