"""Pearson and Spearman: by hand, and against SciPy."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from npbert.training import METRICS, pearson, spearman
from tests.strategies import rngs

CORRELATIONS = ["pearson", "spearman"]


@pytest.fixture(scope="module")
def scipy_stats():
    return pytest.importorskip("scipy.stats", reason="SciPy is not installed: pip install scipy")


@st.composite
def numbers(draw):
    """x and y (N,) with ties on either side, and y drawn towards x or away from it."""
    rng, count = draw(rngs), draw(st.integers(2, 30))
    x, noise = rng.normal(2, 3, (2, count))
    y = draw(st.sampled_from([-2.0, 0.0, 0.5])) * x + noise
    decimals = st.sampled_from([-1, 0, 1, 12])  # rounded to tens most are equal, to 12 places none
    return np.round(x, draw(decimals)), np.round(y, draw(decimals))


def test_pearson_by_hand():
    """Deviations −1, 0, 1 and −2, 1, 1: r = 3 / √(2 · 6)."""
    assert pearson([1, 2, 3], [0, 3, 3]) == pytest.approx(3 / math.sqrt(12))


def test_spearman_by_hand():
    """The ranks are 1, 2.5, 2.5, 4 and 1, 2, 3, 4: deviations −1.5, 0, 0, 1.5 and −1.5, −0.5, 0.5, 1.5."""
    assert spearman([0.1, 7, 7, 8], [1, 10, 100, 1000]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))


def test_spearman_sees_order_alone():
    x = np.linspace(-3, 3, 20)
    assert spearman(x, np.exp(x)) == pytest.approx(1)
    assert spearman(x, -(x**3)) == pytest.approx(-1)
    assert pearson(x, np.exp(x)) < 0.9
    assert pearson(x, 5 - 2 * x) == pytest.approx(-1)


@settings(max_examples=100)
@given(numbers())
@example(([1, 1, 2], [1, 2, 2]))
@example(([0, 5], [3, -3]))
@example((np.array([0, 1, 2, 2], np.float32), [1, 1, 0, 5]))
def test_equal_scipy(scipy_stats, pair):
    x, y = (np.asarray(side, np.float64) for side in pair)
    assume(len(set(x)) > 1 < len(set(y)))
    assert pearson(*pair) == pytest.approx(scipy_stats.pearsonr(x, y).statistic, rel=1e-12, abs=1e-12)
    assert spearman(*pair) == pytest.approx(scipy_stats.spearmanr(x, y).statistic, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize(
    ("x", "y"), [([3, 3, 3], [1, 2, 4]), ([1, 2, 4], [0.1, 0.1, 0.1]), ([2, 2], [2, 2]), ([1.5], [2])]
)
def test_a_constant_side_gives_nan_without_a_warning(name, x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = METRICS[name](x, y)
    assert type(score) is float
    assert math.isnan(score)


@pytest.mark.filterwarnings("ignore:An input array is constant")
@pytest.mark.parametrize("name", ["pearsonr", "spearmanr"])
def test_so_does_scipy(scipy_stats, name):
    assert math.isnan(getattr(scipy_stats, name)([0.1, 0.1, 0.1], [1, 2, 4]).statistic)


@pytest.mark.parametrize("name", CORRELATIONS)
def test_a_float(name):
    assert type(METRICS[name](np.array([1, 2, 3], np.float32), [1, 3, 2])) is float


@pytest.mark.parametrize("name", CORRELATIONS)
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
