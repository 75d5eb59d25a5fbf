"""What floats can tell: each estimate is doubted as far as rounding may be off."""

import numpy as np
import pytest

from npbert.gradcheck import FINITE_DIFFERENCES, TOLERANCES, check_gradients
from tests.gradcheck.small import X, unprovable
from tests.tables import one_in


@pytest.mark.parametrize(("tolerances", "sees"), [({FINITE_DIFFERENCES: 1e-7}, 0.1), (TOLERANCES, 1e-9)])
def test_each_estimate_is_doubted_as_far_as_it_may_be_off(tolerances, sees):
    """Beside 10¹⁰, two digits of a difference are left, and all digits of a complex step."""
    for error in (0.0, sees):
        layer = unprovable(lambda x: 1e10 + np.sin(x), lambda x, error=error: np.cos(x) * (1 + error), of=np.real)
        assert check_gradients(layer, X, tolerances=tolerances).ok == (not error)


OFTEN = {"tan": (np.tan, lambda x: 1 / np.cos(x) ** 2), "sin²": (lambda x: np.sin(x) ** 2, lambda x: np.sin(2 * x))}


@pytest.mark.parametrize("scale", one_in(2, [1e6, 1e10]))
@pytest.mark.parametrize("name", OFTEN)
def test_what_turns_often_beside_how_large_x_is_is_told_right_and_a_wrong_sign_wrong(name, scale):
    f, slope = OFTEN[name]
    x = scale * np.random.default_rng(0).standard_normal((2, 3))
    for sign in (1, -1):
        assert check_gradients(f, lambda dy, x, sign=sign: sign * dy * slope(x), x).ok == (sign == 1)
        layer = unprovable(f, lambda x, sign=sign: sign * slope(x), of=np.real)
        assert check_gradients(layer, x, tolerances={FINITE_DIFFERENCES: 1e-7}).ok == (sign == 1)
