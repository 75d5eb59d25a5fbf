"""blockwise: an expression over blocks is the expression over all of it."""

import numpy as np
import pytest
from npbert.layers.blockwise import BLOCK, blockwise, cut

from npbert.layers import blockwise as module
from tests.computing import in_pieces, nothing_is_nan, on_threads

REAL = [(BLOCK - 1,), (BLOCK - 1, 1), (BLOCK, 1), (BLOCK + 1, 1), (BLOCK // 768 + 1, 768), (3, BLOCK + 1)]
SHAPES = [(1,), (7,), (8,), (9,), (1, 40), (3, 9), (4, 2), (5, 2), (50, 3), (17, 1), (2, 3, 5), (3, 1, 2, 4)]


def pair(x, z):
    """Two results of different widths, of two arrays of different widths."""
    return x * 2 + z.sum(axis=-1, keepdims=True), np.concatenate([z, z, x], axis=-1)


@pytest.fixture(params=[1, 2, 3])
def _threads(request):
    with on_threads(request.param), in_pieces(8), nothing_is_nan():
        yield


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_result(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    y = blockwise(np.exp, x)
    assert y.flags.c_contiguous
    np.testing.assert_array_equal(y, np.exp(x))


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("width", [1, 2, 20])
def test_several_arrays_and_several_results(shape, width):
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal(shape), rng.standard_normal((*shape[:-1], width))
    results = blockwise(pair, x, z)
    assert isinstance(results, tuple)
    for got, wanted in zip(results, pair(x, z), strict=True):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-14)


@pytest.mark.usefixtures("_threads")
def test_results_have_the_dtype_of_the_expression():
    x = np.arange(60, dtype=np.float32).reshape(20, 3)
    y, is_even, z = blockwise(lambda x: (x * 2, x % 2 == 0, x + 1j), x)
    assert (y.dtype, is_even.dtype, z.dtype) == (np.float32, bool, np.complex64)
    np.testing.assert_array_equal(is_even, x % 2 == 0)


def test_all_threads_begin_together():
    """Only what the expression returns is found out before, from one row."""
    rows_seen = []
    with on_threads(2), in_pieces(8):
        blockwise(lambda x: rows_seen.append(len(x)) or x, np.zeros((40, 2)))
    assert rows_seen == [1, *[4] * 10]


@pytest.mark.usefixtures("_threads")
def test_an_array_in_another_order_and_one_that_is_read_only():
    x = np.random.default_rng(0).standard_normal((6, 5, 4)).swapaxes(0, 2)
    x.flags.writeable = False
    np.testing.assert_array_equal(blockwise(np.square, x), np.square(x))


def test_small_arrays_come_whole_and_once():
    seen = []
    with in_pieces(8):
        blockwise(lambda x: seen.append(x) or x, x := np.ones((2, 2, 2)))
    assert len(seen) == 1
    assert seen[0] is x


@pytest.mark.parametrize("widths", [(5, 1), (1, 5)])
def test_one_large_array_is_enough_to_cut_all(widths):
    seen = []
    with in_pieces(8), on_threads(1):
        blockwise(lambda x, z: seen.append((len(x), len(z))) or x, *(np.ones((4, width)) for width in widths))
    assert seen == [(1, 1), (1, 1), (1, 1), (2, 2)]  # the first for what it returns


@pytest.mark.parametrize("empty", [(0, 3), (2, 0, 3)])
def test_no_rows(empty):
    assert blockwise(np.exp, np.zeros(empty)).shape == empty


@pytest.mark.parametrize("shape", REAL)
@pytest.mark.parametrize("count", [1, 2])
def test_at_its_real_size(shape, count):
    x = np.random.default_rng(0).standard_normal(shape, np.float32)
    with on_threads(count), nothing_is_nan():
        np.testing.assert_array_equal(blockwise(np.square, x), np.square(x))


def test_an_error_of_the_expression_comes_out():
    with in_pieces(8), on_threads(2), np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        blockwise(lambda x: 1 / x, np.arange(100.0)[::-1].reshape(50, 2))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 100])
@pytest.mark.parametrize("width", [1, 3, 8, 50])
def test_slices_cover_the_rows_and_are_about_as_large_as_a_block(count, rows, width):
    with on_threads(count), in_pieces(8):
        pieces = cut(np.zeros((rows, 1)), np.zeros((rows, width)))
    assert [row for piece in pieces for row in range(rows)[piece]] == list(range(rows))
    sizes = [(piece.stop - piece.start) * width for piece in pieces]
    assert min(sizes) > 0
    assert max(sizes) <= max(8 + width, width)
    assert len(pieces) % count == 0 or len(pieces) == rows


def test_all_threads_get_blocks():
    with on_threads(4):
        assert len(cut(np.zeros((BLOCK + 1, 1)))) == 4
    assert module.BLOCK == BLOCK
