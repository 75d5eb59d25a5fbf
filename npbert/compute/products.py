"""matmul: NumPy's matrix product, cut into pieces for several threads."""

import numpy as np

from npbert.compute.array import Array
from npbert.compute.threads import run, slices, ways

SMALL = 8_000_000
"""A product of fewer multiplications runs on one thread: below this size a second thread costs more than it saves."""

TINY = 8_000
"""BLAS itself runs a product of fewer multiplications on one thread."""

LENGTH = 384
"""The least rows or columns of a piece: for each piece BLAS copies the whole other factor."""

FEW = 8
"""Up to this many rows of the left factor, BLAS's copy of the right factor takes most of the time."""

SLAB, UNCOPIED = 32, 1_000_000
"""The rows of the right factor in a slab, and the multiplications up to which BLAS copies no factor."""


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
        _multiply(a[rows], b[:, columns], part)
        if plus is not None:
            part += plus[columns]

    pieces = max(1, min(ways(), multiplications // SMALL, max(shape) // LENGTH))
    run(multiply, slices(max(shape), pieces))
    return product


def _multiply(a: Array, b: Array, out: Array) -> None:
    """Compute out = a b. For a few rows, without BLAS's copy of b: BLAS copies nothing if b comes in slabs, and a b is
    Σₛ a[:, s] b[s]."""
    n, inner = a.shape
    if 1 < n <= FEW and inner % SLAB == 0 and n * SLAB * b.shape[1] <= UNCOPIED and b.strides[1] == b.itemsize:
        slabs = inner // SLAB
        products = a.reshape(n, slabs, SLAB).swapaxes(0, 1) @ b.reshape(slabs, SLAB, -1)
        np.sum(products, axis=0, out=out)
    else:
        np.matmul(a, b, out=out)
