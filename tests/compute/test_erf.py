"""erf, against the standard library's."""

import math

import numpy as np
import pytest

from npbert.compute import erf

SPECIAL = [0.0, 5e-324, 1e-310, 1e-30, 1e-8, 4.05, 4.2, 5.9, np.nextafter(6, 7), 6.0, 50.0, 1e300, np.inf]
X = np.concatenate([np.linspace(-7, 7, 20_001), SPECIAL, np.negative(SPECIAL)])
DIVISORS = [1.0, math.sqrt(2), 0.3]


def exact(x, divisor):
    return np.array([math.erf(float(value) / divisor) for value in x])


@pytest.mark.parametrize("divisor", DIVISORS)
def test_float64_is_exact_to_20_units_in_the_last_place(divisor):
    wanted = exact(X, divisor)
    assert (np.abs(erf(X, divisor) - wanted) <= 20 * np.spacing(np.abs(wanted))).all()
    np.testing.assert_array_equal(erf(X), -erf(-X))


@pytest.mark.parametrize("divisor", DIVISORS)
def test_float32_is_close(divisor):
    x = np.unique(np.clip(X, -1e15, 1e15).astype(np.float32))
    y = erf(x, divisor)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, exact(x, divisor), atol=2e-7, rtol=0)
    np.testing.assert_allclose(y, exact(x, divisor), rtol=1e-6, atol=1e-44)


def test_the_complex_step_gives_the_derivative():
    x = X[np.abs(X) <= 7]
    np.testing.assert_allclose(
        erf(x + 1e-30j).imag / 1e-30, 2 / math.sqrt(math.pi) * np.exp(-x * x), atol=2e-14, rtol=0
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ends_and_nothing(dtype):
    np.testing.assert_array_equal(erf(np.array([-np.inf, -50, 0, 50, np.inf], dtype)), [-1, -1, 0, 1, 1])
    assert np.isnan(erf(np.array([np.nan], dtype)))
    assert erf(np.zeros((0, 3), dtype)).shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_numbers_are_as_exact_as_many(dtype):
    """How many terms a number takes does not depend on its neighbours, beyond rounding."""
    x = np.clip(X[::40], -1e15, 1e15).astype(dtype)
    together, alone = erf(x), np.concatenate([erf(number) for number in np.split(x, len(x))])
    np.testing.assert_allclose(alone, together, rtol=1e-15 if dtype == np.float64 else 3e-7)
