"""Sums over rows, along rows and into the rows of a table, each in the quickest way that is exact enough."""

import itertools

import numpy as np

from npbert.compute.array import Array
from npbert.compute.matmul import matmul


def sum_rows(x: Array) -> Array:
    """Σₙ xₙ: all rows of x (N, D) added up, (D,). As a product with a row of ones: BLAS adds faster than np.sum."""
    return matmul(np.ones((1, len(x)), x.dtype), x)[0]


def dot_rows(a: Array, b: Array) -> Array:
    """Σᵢ aᵢ bᵢ, the dot product of each row of a with that of b (..., D), as (..., 1).

    By einsum: a third of the time of np.sum along short rows, and no array of the products. (Its plain sums, of one
    array alone, are as fast, but less exact than np.sum, which adds in pairs: it showed after three steps of training.)
    """
    dots: Array = np.einsum("...i,...i->...", a, b)[..., np.newaxis]
    return dots


def scatter_add(table: Array, ids: Array, y: Array) -> None:
    """table[ids[n]] += y[n] for every n; `table[ids] += y` would keep only the last of those with the same id.

    table (V, D), which is changed   ids (N,)   y (N, D)

    What goes to one row is brought together by sorting, and added at once: several times as fast as `np.add.at`.
    """
    order = np.argsort(ids, kind="stable")
    ids, y = ids[order], y[order]
    starts = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    if len(starts) + 1 == len(ids):  # each id is there once
        table[ids] += y
        return
    for start, stop in itertools.pairwise([0, *starts.tolist(), len(ids)] if len(ids) else []):
        table[ids[start]] += y[start] if stop == start + 1 else y[start:stop].sum(axis=0)
