"""erf, against the standard library's."""

import math

import numpy as np
import pytest

from npbert.layers import erf

X = np.linspace(-7, 7, 100_001)
EXACT = np.array([math.erf(x) for x in X])


def test_float64_is_exact():
    np.testing.assert_allclose(erf(X), EXACT, rtol=3e-15)


def test_float32_is_fast_and_close():
    x = X.astype(np.float32)
    y = erf(x)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, [math.erf(v) for v in x], atol=2e-7, rtol=0)
    np.testing.assert_allclose(y, [math.erf(v) for v in x], rtol=1e-6)


def test_complex_step_gives_the_derivative():
    derivative = erf(X + 1e-30j).imag / 1e-30
    np.testing.assert_allclose(derivative, 2 / math.sqrt(math.pi) * np.exp(-X * X), atol=3e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ends_and_nothing(dtype):
    np.testing.assert_array_equal(erf(np.array([-np.inf, -50, 0, 50, np.inf], dtype)), [-1, -1, 0, 1, 1])
    assert np.isnan(erf(np.array([np.nan], dtype)))
    assert erf(np.zeros((0, 3), dtype)).shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("divisor", [math.sqrt(2), 0.3])
def test_of_a_quotient(dtype, divisor):
    x = X.astype(dtype)
    wanted = [math.erf(float(v) / divisor) for v in x]
    np.testing.assert_allclose(erf(x, divisor), wanted, rtol=1e-6 if dtype == np.float32 else 3e-15)
