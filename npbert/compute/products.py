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
