"""LayerNorm over the last axis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import LayerNorm
from npbert.gradcheck import check_gradients, randomize
from tests.strategies import batches_of_vectors, prove, rngs


@given(st.data(), st.integers(3, 8), rngs, st.sampled_from([1e-12, 1e-5, 0.3]))
def test_gradients(data, features, rng, eps):
    prove(LayerNorm(features, eps=eps, dtype=np.float64), data.draw(batches_of_vectors(features)), rng=rng)


@given(st.data(), st.integers(3, 8))
def test_rows_have_mean_0_and_variance_1(data, features):
    y = LayerNorm(features, dtype=np.float64)(data.draw(batches_of_vectors(features)))
    np.testing.assert_allclose(y.mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(y.var(axis=-1), 1, rtol=1e-9)


def test_gradients_of_an_almost_constant_row():
    """Here eps is a third of the variance: a derivative that forgets it is far off."""
    rng = np.random.default_rng(0)
    norm = LayerNorm(5, eps=1e-4, dtype=np.float64)
    randomize(norm, rng)
    x = 3 + np.sqrt(3e-4) * rng.standard_normal((2, 5))
    check_gradients(norm, x, tolerances={"complex step": 1e-12}).raise_if_wrong()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_row_is_finite(dtype):
    norm = LayerNorm(4, dtype=dtype)
    norm.beta.value[...] = 2
    y, cache = norm.forward(np.full((1, 4), 7, dtype))
    np.testing.assert_array_equal(y, np.full((1, 4), 2))
    assert np.isfinite(norm.backward(np.array([[1, 2, 3, 4]], dtype), cache)).all()


def test_a_width_of_one_is_not_stretched():
    with pytest.raises(ValueError, match=r"x has shape \(2, 1\), but the layer wants \(\.\.\., 4\)"):
        LayerNorm(4).forward(np.zeros((2, 1)))
