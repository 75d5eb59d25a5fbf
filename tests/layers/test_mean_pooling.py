"""MeanPooling: the mean of what is not padding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import MeanPooling
from npbert.gradcheck import check_gradients
from tests.strategies import attention_masks, sizes, values


@given(st.data(), sizes, sizes, sizes)
def test_gradients(data, batch_size, length, features):
    x, mask = data.draw(values(batch_size, length, features)), data.draw(attention_masks(batch_size, length))
    check_gradients(MeanPooling(), x, mask).raise_if_wrong()


@given(st.data(), sizes, sizes, sizes)
def test_the_mean_of_the_real_tokens(data, batch_size, length, features):
    x, mask = data.draw(values(batch_size, length, features)), data.draw(attention_masks(batch_size, length))
    y = MeanPooling()(x, mask)
    assert y.shape == (batch_size, features)
    for row, tokens, real in zip(y, x, mask == 1, strict=True):
        expected = tokens[real].mean(axis=0) if real.any() else np.zeros(features)
        np.testing.assert_allclose(row, expected, rtol=1e-12, atol=1e-14)


def test_holes_and_booleans():
    x = np.array([[[1.0, 2], [10, 20], [5, 4]]], np.float32)
    y = MeanPooling()(x, np.array([[True, False, True]]))
    np.testing.assert_array_equal(y, [[3, 3]])
    assert y.dtype == np.float32


def test_wrong_masks():
    x = np.zeros((2, 3, 4))
    with pytest.raises(ValueError, match=r"attention_mask has shape \(2, 4\), wanted \(2, 3\)"):
        MeanPooling().forward(x, np.ones((2, 4), int))
    with pytest.raises(ValueError, match="attention_mask holds 2, wanted only 1"):
        MeanPooling().forward(x, np.full((2, 3), 2))
    with pytest.raises(TypeError, match="attention_mask must be an array of integers, got float64"):
        MeanPooling().forward(x, np.ones((2, 3)))
