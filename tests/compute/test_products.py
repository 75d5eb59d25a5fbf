"""Products in pieces, and sums, are NumPy's own."""

import itertools
from contextlib import nullcontext

import numpy as np
import pytest

from npbert.compute import dot_rows, matmul, row_maxima, row_sums, scatter_add, sum_rows
from tests.computing import assert_same_but_for_rounding, in_pieces, nothing_is_nan, on_threads
from tests.tables import one_in

SIZES = [(7, 3, 5), (5, 3, 7), (1, 6, 9), (9, 6, 1), (0, 3, 4), (3, 0, 4), (3, 4, 0)]
REAL = [(700, 300, 200), (200, 300, 700), (1, 64, 500), (8, 384, 3907), (33, 50, 160)]
CUTS = [*itertools.product(SIZES, (1, 2, 1000)), *((size, None) for size in REAL)]


def factors(n, i, o, dtype=np.float32):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(dtype) for shape in ((n, i), (i, o), (o,))]


def plainly(a, b, plus=0.0):
    return (a.astype(np.float64) @ b.astype(np.float64) + plus).astype(a.dtype)


def orders(a):
    """The same numbers, in other orders in memory."""
    return a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2], a[::-1].copy()[::-1]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-6), (np.float64, 2e-14)])
@pytest.mark.parametrize(("size", "pieces"), one_in(4, CUTS))
def test_products_are_numpys(size, pieces, dtype, tolerance):
    """In so many pieces, as far as there are threads; with None it is cut as it really is."""
    a, b, plus = factors(*size, dtype)
    most = max(1, a.size * len(plus) // pieces) if pieces else 0
    with on_threads(3), nothing_is_nan(), in_pieces(1, most) if pieces else nullcontext():
        for left, right in zip(orders(a), orders(b), strict=True):
            assert_same_but_for_rounding([matmul(left, right, plus=plus)], [plainly(a, b, plus)], tolerance)
        assert_same_but_for_rounding([matmul(a.T, a)], [plainly(a.T, a)], tolerance)
        assert_same_but_for_rounding([sum_rows(a)], plainly(np.ones((1, len(a)), dtype), a), tolerance)
    for array, before in zip((a, b, plus), factors(*size, dtype), strict=True):
        np.testing.assert_array_equal(array, before)


def test_blas_is_held_to_one_thread(count_of_blas, monkeypatch):
    seen, numpys = [], np.matmul
    monkeypatch.setattr(np, "matmul", lambda *args, **options: seen.append(count_of_blas()) or numpys(*args, **options))
    for size, count in itertools.product(((20, 20, 20), (300, 300, 300)), (1, 2)):
        with on_threads(count):
            matmul(*factors(*size)[:2])
    assert set(seen) == {1}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("features", [1, 2, 16, 63, 64, 200])
def test_the_sum_and_the_largest_of_each_row(features, dtype):
    """Of rows that are ordinary, constant, full of ties, of huge beside tiny numbers, and nearly constant."""
    rng = np.random.default_rng(features)
    rows = rng.standard_normal((5, features))
    rows[1] = 2
    rows[2] = rows[2].round()
    rows[3] = rng.choice([0.0, -0.0, 1e-310, 1e-30, -1e-8, 1.0, 1e6, -1e6], features)
    rows[4] = 9 + 1e-6 * rows[4]
    x = rows.astype(dtype)
    for array in (x, x[None, :, None], x.T.copy().T):
        largest, sums, dots = row_maxima(array), row_sums(array), dot_rows(array, array)
        np.testing.assert_array_equal(largest, array.max(axis=-1, keepdims=True), strict=True)
        for found, terms in ((sums, array), (dots, array * array)):
            assert (found.shape, found.dtype) == (largest.shape, dtype)
            off = np.abs(found - terms.sum(axis=-1, keepdims=True))
            assert (off <= features * np.finfo(dtype).eps * np.abs(terms).sum(axis=-1, keepdims=True)).all()


def test_a_row_s_vectors_are_added_in_their_order():
    """So that two runs give the same bits: 1e16 + 1 − 1e16 is 0, in another order 1."""
    table = np.zeros((3, 1))
    scatter_add(table, np.array([1, 0, 1, 0, 1]), np.array([[1e16], [5], [1], [6], [-1e16]]))
    np.testing.assert_array_equal(table, [[11], [0], [0]])
