"""Embedding: rows of a table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Embedding
from tests.strategies import ids, prove, rngs, sizes


@given(st.data(), sizes, sizes, sizes, sizes, rngs)
def test_gradients(data, rows, features, batch_size, length, rng):
    prove(Embedding(rows, features, rng=rng, dtype=np.float64), data.draw(ids(rows, batch_size, length)), rng=rng)


def test_repeated_ids_add_and_others_get_nothing():
    embedding = Embedding(4, 2, rng=None)
    _, cache = embedding.forward(np.array([1, 3, 1]))
    embedding.backward(np.array([[1, 2], [10, 20], [100, 200]], np.float32), cache)
    np.testing.assert_array_equal(embedding.weight.grad, [[0, 0], [101, 202], [0, 0], [10, 20]])


@pytest.mark.parametrize("wrong", [-1, 4, -100])
def test_an_id_beyond_the_table_is_named(wrong):
    with pytest.raises(IndexError, match=rf"ids\[1, 0\] is {wrong}, but the number of rows is 4: wanted 0 to 3"):
        Embedding(4, 2, rng=None).forward(np.array([[0, 3], [wrong, 1]]))


def test_float_ids():
    with pytest.raises(TypeError, match="ids must be an array of integers, got float64"):
        Embedding(4, 2, rng=None).forward(np.array([0.0, 1.0]))
