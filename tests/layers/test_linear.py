"""Linear: y = x W + b."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Linear
from tests.strategies import batches_of_vectors, prove, rngs, sizes


@given(st.data(), sizes, sizes, rngs)
def test_gradients(data, in_features, out_features, rng):
    x = data.draw(batches_of_vectors(in_features))
    prove(Linear(in_features, out_features, rng=rng, dtype=np.float64), x, rng=rng)


def test_one_feature_and_one_row():
    rng = np.random.default_rng(0)
    prove(Linear(1, 1, rng=rng, dtype=np.float64), np.array([[2.0]]), rng=rng)


def test_weights_start_normal_and_biases_zero():
    linear = Linear(300, 400, rng=np.random.default_rng(0))
    assert abs(linear.weight.value.std() - 0.02) < 2e-4
    assert abs(linear.weight.value.mean()) < 2e-4
    assert not linear.bias.value.any()
    wide = Linear(300, 400, rng=np.random.default_rng(0), initializer_range=0.5)
    np.testing.assert_allclose(wide.weight.value, 25 * linear.weight.value, rtol=1e-6)


def test_one_seed_gives_the_same_numbers_in_both_precisions():
    single = Linear(3, 4, rng=np.random.default_rng(1))
    double = Linear(3, 4, rng=np.random.default_rng(1), dtype=np.float64)
    np.testing.assert_array_equal(single.weight.value, double.weight.value.astype(np.float32))


def test_a_seed_is_no_generator():
    with pytest.raises(TypeError, match=r"rng is 0, wanted a Generator, such as np.random.default_rng\(0\), or None"):
        Linear(3, 4, rng=0)


def test_without_rng_the_weights_are_zero():
    assert not Linear(3, 4, rng=None).weight.value.any()


def test_wrong_width_is_named():
    with pytest.raises(ValueError, match=r"x has shape \(2, 1\), but the layer wants \(\.\.\., 3\)"):
        Linear(3, 4, rng=None).forward(np.zeros((2, 1)))


def test_no_rows_give_no_rows():
    assert Linear(3, 4, rng=None)(np.zeros((0, 3))).shape == (0, 4)
