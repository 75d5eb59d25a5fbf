"""rowwise: an expression over some rows at a time is the expression over all of them. in_blocks: so are views."""

import numpy as np
import pytest

from npbert.compute import BLOCK, in_blocks, rowwise
from tests.computing import in_pieces, nothing_is_nan, on_threads

SHAPES = [(1, 8), (9, 1), (1, 40), (3, 9), (4, 2), (5, 2), (50, 3), (17, 1), (2, 3, 5), (3, 1, 2, 4), (0, 3)]


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
    x = rng.standard_normal(shape[::-1]).astype(np.float32).T
    x.flags.writeable = False
    with in_pieces(8):
        np.testing.assert_array_equal(rowwise(np.exp, x), np.exp(x), strict=True)
        for width in (1, 2, 20):
            z = rng.standard_normal((*shape[:-1], width))
            results = rowwise(pair, x, z)
            for got, wanted in zip(results, pair(x, z), strict=True):
                np.testing.assert_allclose(got, wanted, rtol=1e-14, strict=True)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("block", [7, BLOCK])
@pytest.mark.parametrize("shape", [(), (1,), (13,), (14,), (15,), (2, 3, 5), (0,), (BLOCK + 1,)], ids=str)
def test_blocks_visit_every_element_once(shape, block, order):
    """What is not contiguous comes whole."""
    a, b = np.zeros(shape, order=order), np.arange(np.prod(shape)).reshape(shape)
    with in_pieces(block):
        for x, y in in_blocks(a, b):
            assert x.size == y.size
            assert x.size <= block or not a.flags.c_contiguous
            x += y + 1
    np.testing.assert_array_equal(a, b + 1)
