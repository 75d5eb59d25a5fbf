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

FEW = 32
"""Up to this many rows of the left factor, BLAS's copy of the right factor costs time."""

GROUP = 8
"""The rows of a BLAS kernel; it needs three turns for the last seven of 15 rows, and half as long again."""

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
        if plus is not None:
            product += plus
        return product
    product = np.empty(shape, np.result_type(a, b))
    axis = 0 if shape[0] >= shape[1] else 1

    def multiply(piece: slice) -> None:
        part, left, right = (product[piece], a[piece], b) if axis == 0 else (product[:, piece], a, b[:, piece])
        _multiply(left, right, part)
        if plus is not None:
            part += plus if axis == 0 else plus[piece]

    pieces = max(1, min(ways(), multiplications // SMALL, shape[axis] // LENGTH))
    run(multiply, slices(shape[axis], pieces))
    return product


def _multiply(a: Array, b: Array, out: Array) -> None:
    """Compute out = a b. For few rows, avoid BLAS's copy of b, which takes up to half of the time.

    BLAS copies the right factor. In bᵀ aᵀ, the same product, that is the small one (padded to full groups of rows). For
    even fewer rows it copies nothing, if b comes in slabs: Σₛ a[:, s] b[s].
    """
    n, inner = a.shape
    if n == 1 or n > FEW:
        np.matmul(a, b, out=out)
    elif n <= GROUP and inner % SLAB == 0 and n * SLAB * b.shape[1] <= UNCOPIED and b.strides[1] == b.itemsize:
        slabs = inner // SLAB
        products = a.reshape(n, slabs, SLAB).swapaxes(0, 1) @ b.reshape(slabs, SLAB, -1)
        np.sum(products, axis=0, out=out)
    else:
        groups = np.zeros((-(-n // GROUP) * GROUP, inner), a.dtype)
        groups[:n] = a
        out[...] = np.matmul(b.T, groups.T).T[:n]
