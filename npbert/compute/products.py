"""matmul: NumPy's matrix product, cut into pieces for several threads."""

import numpy as np

from npbert.compute.array import Array
from npbert.compute.threads import run, slices, ways

SMALL = 8_000_000
"""A product of fewer multiplications is done by one thread: another would hardly have begun before it is done."""

TINY = 8_000
"""A product of fewer multiplications BLAS leaves to one thread of its own accord."""

LENGTH = 384
"""Rows or columns of a piece, at least: for each piece BLAS copies the whole other factor."""

FEW = 32
"""Rows of the left factor that are few beside the work of BLAS to copy the right one first, in the order it likes."""

GROUP = 8
"""Rows that BLAS multiplies at once; the last seven of 15 it takes in three turns, and half as long again."""

SLAB, UNCOPIED = 32, 1_000_000
"""Rows of the right factor in a slab, and the multiplications up to which BLAS takes both factors as they lie."""


def matmul(a: Array, b: Array, *, plus: Array | None = None) -> Array:
    """a b + plus, a new array (N, O).

    a (N, I)   b (I, O)   plus (O,), added to every row

    The larger side of the result is cut, so that each thread reads a part of the larger factor and all of the smaller.
    The cut follows from the sizes, never from the number of threads.
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
    """out = a b; for few rows so that BLAS does not copy b, which takes up to half of the time.

    Of two factors BLAS copies the right one: in bᵀ aᵀ, the same product, that is the small one (brought to full groups
    of rows). For fewer rows still it copies nothing, if it gets b in slabs: Σₛ a[:, s] b[s].
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
