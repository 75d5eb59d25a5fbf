"""rowwise: an expression over some rows at a time is the expression over all of them. in_blocks: so are views.
erf, against the standard library's."""

import math

import numpy as np
import pytest

from npbert.compute import erf

SPECIAL = [0.0, 5e-324, 1e-310, 1e-30, 1e-8, 4.05, 4.2, 5.9, np.nextafter(6, 7), 6.0, 50.0, 1e15, np.inf]
X = np.concatenate([np.linspace(-7, 7, 5_001), SPECIAL, np.negative(SPECIAL)])


@pytest.mark.parametrize("divisor", [1.0, math.sqrt(2), 0.3])
def test_erf_is_as_exact_as_it_says(divisor):
    """To the last digit in float64, and to 2e-7, or 1e-6 of a small number, in float32."""
    np.testing.assert_array_equal(erf(X, divisor), [math.erf(x / divisor) for x in X])
    x = X.astype(np.float32)[np.isfinite(X)]
    wanted = np.array([math.erf(float(x) / divisor) for x in x])
    with np.errstate(over="raise"):
        y = erf(x, divisor)
    assert y.dtype == np.float32
    assert (np.abs(y - wanted) <= np.minimum(2e-7, 1e-6 * np.abs(wanted) + 1e-44)).all()
