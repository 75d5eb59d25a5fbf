"""GELU, tanh-GELU, ReLU, Tanh, and the names that a configuration gives them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from npbert import GELU, ReLU, Tanh, TanhGELU
from npbert.gradcheck import check_gradients
from npbert.layers import erf, make_activation
from tests.strategies import sizes

shapes = st.lists(sizes, min_size=1, max_size=3).map(tuple)
# A 1 among them sets the scale of the derivatives: those of GELU far to the left are what is left when two 1s cancel.
floats = arrays(np.float64, shapes, elements=st.floats(-8, 8, allow_subnormal=False)).map(lambda x: np.append(x, 1.0))
away_from_zero = arrays(np.float64, shapes, elements=st.floats(0.01, 8) | st.floats(-8, -0.01))


@pytest.mark.parametrize("activation", [GELU(), TanhGELU(), Tanh()], ids=lambda layer: type(layer).__name__)
@given(floats)
def test_gradients(activation, x):
    check_gradients(activation, x).raise_if_wrong()


@given(away_from_zero)
def test_relu_gradients(x):
    check_gradients(ReLU(), x).raise_if_wrong()


def test_relu_passes_nothing_at_zero():
    relu = ReLU()
    y, cache = relu.forward(np.array([-1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(y, [0, 0, 2])
    np.testing.assert_array_equal(relu.backward(np.array([5.0, 5.0, 5.0]), cache), [0, 0, 5])


@pytest.mark.parametrize("activation", [ReLU(), GELU(), TanhGELU(), Tanh()], ids=lambda layer: type(layer).__name__)
def test_nan_is_not_hidden(activation):
    assert np.isnan(activation(np.array([np.nan]))).all()


def test_the_two_gelus_are_close_but_not_the_same():
    x = np.linspace(-5, 5, 1001)
    difference = np.abs(GELU()(x) - TanhGELU()(x)).max()
    assert 1e-4 < difference < 5e-4


def test_gelu_is_the_input_times_the_normal_distribution_function():
    np.testing.assert_allclose(GELU()(np.array([1.0])), [0.8413447460685429], rtol=1e-15)
    x = np.linspace(-3, 3, 13)
    np.testing.assert_allclose(GELU()(x), x * (1 + erf(x / np.sqrt(2))) / 2, rtol=1e-15)


@pytest.mark.parametrize("activation", [GELU(), TanhGELU()], ids=lambda layer: type(layer).__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gelu_far_out(activation, dtype):
    x = np.array([-100, -20, 20, 100], dtype)
    np.testing.assert_array_equal(activation(x), np.maximum(x, 0))


def test_names():
    assert [type(make_activation(name)) for name in ("gelu", "gelu_new", "relu")] == [GELU, TanhGELU, ReLU]
    with pytest.raises(
        ValueError, match="activation is 'swish', wanted one of gelu, gelu_new, gelu_pytorch_tanh, relu"
    ):
        make_activation("swish")
