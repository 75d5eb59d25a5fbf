"""Pearson and Spearman: by hand, and against SciPy."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from npbert.training import METRICS, pearson, spearman

both = pytest.mark.parametrize("name", ["pearson", "spearman"])
halves = st.integers(-6, 6).map(lambda number: number / 2)


def test_by_hand():
    """Deviations −1, 0, 1 and −2, 1, 1. Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4, with deviations −1.5, 0, 0, 1.5 and
    −1.5, −0.5, 0.5, 1.5."""
    assert pearson([1, 2, 3], [0, 3, 3]) == pytest.approx(3 / math.sqrt(2 * 6))
    assert spearman([0.1, 7, 7, 8], [1, 10, 100, 1000]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))


def test_spearman_sees_order_alone_and_pearson_more():
    x = np.linspace(-3, 3, 20, dtype=np.float32)
    assert spearman(x, np.exp(x)) == pytest.approx(1)
    assert spearman(x, -(x**3)) == pytest.approx(-1)
    assert pearson(x, np.exp(x)) < 0.9
    assert pearson(x, 5 - 2 * x) == pytest.approx(-1)
    assert type(pearson(x, x)) is type(spearman(x, x)) is float


@given(st.lists(st.tuples(halves, halves), min_size=2, max_size=30), st.sampled_from([-2, 0, 0.5]))
@settings(max_examples=50)
@example([(0.0, 3.0), (5.0, -3.0)], 0)
def test_equal_scipy(pairs, slope):
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed: pip install scipy")
    x, noise = np.array(pairs).T
    y = slope * x + noise
    assume(len(set(x)) > 1 < len(set(y)))
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, rel=1e-12, abs=1e-12)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, rel=1e-12, abs=1e-12)


@both
@pytest.mark.parametrize(
    ("x", "y"), [([3, 3, 3], [1, 2, 4]), ([1, 2, 4], [0.1, 0.1, 0.1]), ([2, 2], [2, 2]), ([1.5], [2])]
)
def test_a_constant_side_gives_nan_without_a_warning(name, x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(METRICS[name](x, y))


@both
@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ([1, 2, 3], [1, 2], ValueError, "x has 3 values, but y has 2"),
        ([], [], ValueError, "x is empty, wanted at least one example"),
        ([[1.0], [2.0]], [1, 2], ValueError, r"x has shape \(2, 1\), wanted \(N,\)"),
        ([1, 2, 3], [0.5, math.nan, 2], ValueError, r"y\[1\] is nan, wanted finite numbers"),
        ([1, 2, -math.inf], [1, 2, 3], ValueError, r"x\[2\] is -inf, wanted finite numbers"),
        (["1", "2"], [1, 2], TypeError, "x must hold integers or floats, got <U1"),
    ],
)
def test_wrong_input(name, x, y, error, message):
    with pytest.raises(error, match=message):
        METRICS[name](x, y)
