"""matmul: NumPy's matrix product, cut into pieces for several threads."""

import numpy as np

from npbert.compute.array import Array
from npbert.compute.blas import blas_threads
from npbert.compute.threads import num_threads, run, slices

SMALL = 8_000_000
"""A product of fewer multiplications is done by one thread: another would hardly have begun before it is done."""

TINY = 8_000
"""A product of fewer multiplications BLAS leaves to one thread of its own accord."""

FEW = 32
"""Rows of the left factor that are few beside the work of BLAS to copy the right one first, in the order it likes."""

GROUP = 8
"""Rows that BLAS multiplies at once; the last seven of 15 it takes in three turns, and half as long again."""

UNCOPIED = 1_000_000
"""A product of no more multiplications one thread of BLAS makes from the factors as they lie, if it is of 16 rows."""


def matmul(a: Array, b: Array, *, plus: Array | None = None) -> Array:
    """a b + plus, a new array (N, O).

    a (N, I)   b (I, O)   plus (O,), added to every row

    The larger side of the result is cut, so that each thread reads a part of the larger factor and all of the smaller.
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

    pieces = max(1, min(num_threads(), multiplications // SMALL, shape[axis]))
    run(multiply, slices(shape[axis], pieces))
    return product


def _multiply(a: Array, b: Array, out: Array) -> None:
    """out = a b; for few rows so that BLAS does not copy b, which takes up to half of the time.

    One thread copies nothing where the product is small: it gets b in slabs, Σₛ a[:, s] b[s]. Else BLAS copies the
    right one of two factors: in bᵀ aᵀ, the same product, that is the small one (brought to full groups of rows).
    """
    n, inner = a.shape
    for depth in (64, 32):
        if 1 < n <= FEW // 2 and inner % depth == 0 and n * depth * b.shape[1] <= UNCOPIED and _in_slabs(b):
            slabs = inner // depth
            products = a.reshape(n, slabs, depth).swapaxes(0, 1) @ b.reshape(slabs, depth, -1)
            np.sum(products, axis=0, out=out)
            return
    if 1 < n <= FEW:
        groups = np.zeros((-(-n // GROUP) * GROUP, inner), a.dtype)
        groups[:n] = a
        out[...] = np.matmul(b.T, groups.T).T[:n]
    else:
        np.matmul(a, b, out=out)


def _in_slabs(b: Array) -> bool:
    """Whether slabs of b help: if its rows lie in memory one by one, and BLAS has no threads that would take shares."""
    blas = blas_threads()
    return b.flags.c_contiguous and (blas is None or blas.get() == 1)
