"""Softmax over the last axis."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from npbert import Softmax
from npbert.gradcheck import check_gradients
from tests.strategies import batches_of_vectors, sizes


@given(st.data(), sizes)
def test_gradients(data, features):
    check_gradients(Softmax(), data.draw(batches_of_vectors(features))).raise_if_wrong()


@given(st.data(), sizes)
def test_rows_sum_to_one(data, features):
    p = Softmax()(data.draw(batches_of_vectors(features)))
    np.testing.assert_allclose(p.sum(axis=-1), 1, rtol=1e-14)


def test_large_scores_do_not_overflow():
    p = Softmax()(np.array([[1e4, 1e4, -1e4]], np.float32))
    np.testing.assert_array_equal(p, [[0.5, 0.5, 0]])
