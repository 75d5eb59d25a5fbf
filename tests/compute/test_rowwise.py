"""rowwise: an expression over some rows at a time is the expression over all of them. in_blocks: so are views."""

import numpy as np
import pytest

from npbert.compute import BLOCK, in_blocks, rowwise
from tests.computing import in_pieces, nothing_is_nan, on_threads

SHAPES = [(1,), (7,), (8,), (9,), (1, 40), (3, 9), (4, 2), (5, 2), (50, 3), (17, 1), (2, 3, 5), (3, 1, 2, 4), (0, 3)]
REAL = [(BLOCK - 1, 1), (BLOCK,), (BLOCK + 1, 1), (BLOCK // 768 + 1, 768), (3, BLOCK + 1)]


def pair(x, z):
    """Two results of different widths and dtypes, of two arrays of different widths."""
    return x * 2 + z.sum(axis=-1, keepdims=True), np.concatenate([z, z, x], axis=-1) > 0


@pytest.fixture(params=[1, 2, 3])
def _threads(request):
    with on_threads(request.param), nothing_is_nan():
        yield


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_in_pieces(shape):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(np.float32)
    with in_pieces(8):
        y = rowwise(np.exp, x)
        assert (y.dtype, y.flags.c_contiguous) == (np.float32, True)
        np.testing.assert_array_equal(y, np.exp(x), strict=True)
        for width in (1, 2, 20) if len(shape) > 1 else ():
            z = rng.standard_normal((*shape[:-1], width))
            results = rowwise(pair, x, z)
            assert isinstance(results, tuple)
            for got, wanted in zip(results, pair(x, z), strict=True):
                assert got.dtype == wanted.dtype
                np.testing.assert_allclose(got, wanted, rtol=1e-14)
                assert got.shape == wanted.shape


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("shape", REAL, ids=str)
def test_rows_at_their_real_size(shape):
    x = np.random.default_rng(0).standard_normal(shape, np.float32)
    np.testing.assert_array_equal(rowwise(np.square, x), np.square(x))


@pytest.mark.usefixtures("_threads")
def test_an_array_in_another_order_and_one_that_is_read_only():
    x = np.random.default_rng(0).standard_normal((6, 5, 4)).swapaxes(0, 2)
    x.flags.writeable = False
    with in_pieces(8):
        np.testing.assert_array_equal(rowwise(np.square, x), np.square(x))


@pytest.mark.usefixtures("_threads")
def test_an_error_of_the_expression_comes_out():
    with in_pieces(8), np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        rowwise(lambda x: 1 / x, np.arange(100.0)[::-1].reshape(50, 2))


@pytest.mark.parametrize("block", [7, BLOCK])
@pytest.mark.parametrize("shape", [(), (1,), (13,), (14,), (15,), (2, 3, 5), (0,), (BLOCK + 1,)], ids=str)
def test_blocks_visit_every_element_once(shape, block):
    a, b = np.zeros(shape), np.arange(np.prod(shape)).reshape(shape)
    with in_pieces(block):
        for x, y in in_blocks(a, b):
            assert x.size == y.size <= block
            x += y + 1
    np.testing.assert_array_equal(a, b + 1)


def test_what_is_not_contiguous_comes_whole_and_is_changed_too():
    array = np.zeros((3, 4))
    with in_pieces(7):
        for x, _ in in_blocks(array.T, np.zeros((4, 3))):
            x += 1
    assert (array == 1).all()
