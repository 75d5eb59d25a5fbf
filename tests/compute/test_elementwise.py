"""rowwise: an expression over some rows at a time is the expression over all of them. in_blocks: so are views.
erf, against the standard library's."""

import math

import numpy as np
import pytest

from npbert.compute import erf, in_blocks, rowwise
from tests.computing import in_pieces, nothing_is_nan, on_threads


def pair(x, z):
    """Two results of different widths and dtypes, of two arrays of different widths."""
    return x * 2 + z.sum(axis=-1, keepdims=True), np.concatenate([z, z, x], axis=-1) > 0


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", [(1, 40), (9, 1), (50, 3), (3, 1, 2, 4), (0, 3)], ids=str)
def test_rows_in_pieces(shape, threads):
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal(shape[::-1]).astype(np.float32).T, rng.standard_normal((*shape[:-1], 20))
    x.flags.writeable = False
    with on_threads(threads), in_pieces(8), nothing_is_nan():
        np.testing.assert_array_equal(rowwise(np.exp, x), np.exp(x), strict=True)
        for got, wanted in zip(rowwise(pair, x, z), pair(x, z), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-14, strict=True)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("shape", [(), (13,), (2, 3, 5), (0,)], ids=str)
def test_blocks_visit_every_element_once(shape, order):
    """What is not contiguous comes whole."""
    a, b = np.zeros(shape, order=order), np.arange(np.prod(shape)).reshape(shape)
    with in_pieces(7):
        for x, y in in_blocks(a, b):
            assert x.size == y.size and (x.size <= 7 or not a.flags.c_contiguous)
            x += y + 1
    np.testing.assert_array_equal(a, b + 1)


SPECIAL = [0.0, 5e-324, 1e-310, 1e-30, 1e-8, 4.05, 4.2, 5.9, np.nextafter(6, 7), 6.0, 50.0, 1e15, np.inf]
X = np.concatenate([np.linspace(-7, 7, 5_001), SPECIAL, np.negative(SPECIAL)])


@pytest.mark.parametrize("divisor", [1.0, math.sqrt(2), 0.3])
def test_erf_is_as_exact_as_it_says(divisor):
    """To 20 units in the last place in float64, and to 2e-7, or 1e-6 of a small number, in float32."""
    wanted = np.array([math.erf(x / divisor) for x in X])
    assert (np.abs(erf(X, divisor) - wanted) <= 20 * np.spacing(np.abs(wanted))).all()
    np.testing.assert_array_equal(erf(-X), -erf(X))
    x = X.astype(np.float32)[np.isfinite(X)]
    wanted = np.array([math.erf(float(x) / divisor) for x in x])
    with np.errstate(over="raise"):
        y = erf(x, divisor)
    assert y.dtype == np.float32
    assert (np.abs(y - wanted) <= np.minimum(2e-7, 1e-6 * np.abs(wanted) + 1e-44)).all()
