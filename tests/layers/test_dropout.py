"""Dropout, which takes its randomness as an argument."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Dropout
from npbert.gradcheck import check_gradients
from tests.strategies import batches_of_vectors, rngs, sizes


@given(st.data(), sizes, rngs, st.floats(0, 0.9))
def test_gradients(data, features, rng, p):
    check_gradients(Dropout(p), data.draw(batches_of_vectors(features)), rng).raise_if_wrong()


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_share_scale_and_mean(p):
    y = Dropout(p)(np.ones(1_000_000), np.random.default_rng(0))
    assert abs((y == 0).mean() - p) < 2e-3
    np.testing.assert_allclose(y[y != 0], 1 / (1 - p), rtol=1e-15)
    assert abs(y.mean() - 1) < 5e-3


def test_backward_drops_what_forward_dropped():
    dropout = Dropout(0.3)
    y, cache = dropout.forward(np.ones(1000), np.random.default_rng(0))
    np.testing.assert_array_equal(dropout.backward(np.ones(1000), cache), y)


def test_evaluation_changes_nothing():
    x = np.arange(6.0)
    y, cache = Dropout(0.9).forward(x)
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(Dropout(0.9).backward(2 * x, cache), 2 * x)


def test_a_rate_of_0_draws_nothing():
    rng = np.random.default_rng(0)
    Dropout(0.0).forward(np.ones(5), rng)
    assert rng.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize("p", [-0.1, 1.0, float("nan")])
def test_wrong_rate(p):
    with pytest.raises(ValueError, match=f"p is {p}, wanted 0 ≤ p < 1"):
        Dropout(p)
