"""matmul: NumPy's matrix product, cut into pieces for several threads. Fast sums over rows, along rows and
into the rows of a table, and the maximum along rows."""

import numpy as np

from npbert.compute.array import Array
from npbert.compute.threads import run, slices, ways

SMALL = 8_000_000
"""A product of fewer multiplications runs on one thread: below this size a second thread costs more than it saves."""

TINY = 8_000
"""BLAS itself runs a product of fewer multiplications on one thread."""

LENGTH = 384
"""The least rows or columns of a piece: for each piece BLAS copies the whole other factor."""

LONG = 64
"""From this row length on, np.max is fast along rows."""


def matmul(a: Array, b: Array, *, plus: Array | None = None) -> Array:
    """Return a b + plus, a new array (N, O).

    a (N, I)   b (I, O)   plus (O,), added to every row

    The larger side of the result is cut, so each thread reads a part of the larger factor and all of the smaller. The
    cut depends on the sizes, not on the number of threads.
    """
    shape = len(a), b.shape[1]
    multiplications = shape[0] * shape[1] * a.shape[1]
    if multiplications < TINY:
        product = np.matmul(a, b)
        return product if plus is None else product + plus
    product = np.empty(shape, np.result_type(a, b))
    by_rows, whole = shape[0] >= shape[1], slice(None)

    def multiply(piece: slice) -> None:
        rows, columns = (piece, whole) if by_rows else (whole, piece)
        part = product[rows, columns]
        np.matmul(a[rows], b[:, columns], out=part)
        if plus is not None:
            part += plus[columns]

    pieces = max(1, min(ways(), multiplications // SMALL, max(shape) // LENGTH))
    run(multiply, slices(max(shape), pieces))
    return product


def sum_rows(x: Array) -> Array:
    """Σₙ xₙ: the sum of all rows of x (N, D), (D,). As a product with a row of ones: BLAS adds faster than np.sum."""
    return matmul(np.ones((1, len(x)), x.dtype), x)[0]


def dot_rows(a: Array, b: Array) -> Array:
    """Σᵢ aᵢ bᵢ, the dot product of each row of a with the row of b (..., D), as (..., 1).

    By einsum: a third of the time of np.sum along short rows, without an array of products. (einsum's sums of one array
    are less exact than np.sum's, which adds in pairs: training differed after three steps.)
    """
    return np.einsum("...i,...i->...", a, b)[..., np.newaxis]


def row_sums(x: Array) -> Array:
    """Σᵢ xᵢ along each row of x (..., D), as (..., 1). As a product with a column of ones: for short rows in a tenth of
    the time of np.sum."""
    return x @ np.ones((x.shape[-1], 1), x.dtype)


def row_maxima(x: Array) -> Array:
    """The largest xᵢ of each row of x (..., D), as (..., 1).

    Along short rows np.max takes ten times as long as down columns, so the array is transposed first.
    """
    if x.shape[-1] >= LONG:
        return x.max(axis=-1, keepdims=True)
    columns = np.ascontiguousarray(x.reshape(-1, x.shape[-1]).T)
    return columns.max(axis=0).reshape(*x.shape[:-1], 1)


def scatter_add(table: Array, ids: Array, y: Array) -> None:
    """table[ids[n]] += y[n] for every n; `table[ids] += y` keeps only the last row of equal ids.

    table (V, D), changed in place   ids (N,)   y (N, D)

    Rows with equal ids are sorted together and summed at once: several times as fast as `np.add.at`.
    """
    order = np.argsort(ids, kind="stable")
    ids, y = ids[order], y[order]
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    table[ids[starts]] += np.add.reduceat(y, starts, axis=0)
