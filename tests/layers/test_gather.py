"""Gather: chosen positions of a batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import Gather
from npbert.gradcheck import check_gradients
from tests.strategies import ids, sizes, values


@given(st.data(), sizes, sizes, sizes, st.integers(1, 9))
def test_gradients(data, batch_size, length, features, count):
    x = data.draw(values(batch_size, length, features))
    positions = data.draw(ids(batch_size * length, count))
    check_gradients(Gather(), x, positions).raise_if_wrong()


def test_a_position_read_twice_collects_twice():
    _, cache = Gather().forward(np.zeros((1, 3, 2)), np.array([2, 2, 0]))
    dx = Gather().backward(np.array([[1.0, 2], [10, 20], [5, 6]]), cache)
    np.testing.assert_array_equal(dx, [[[5, 6], [0, 0], [11, 22]]])


def test_a_position_beyond_the_batch():
    with pytest.raises(IndexError, match=r"positions\[0\] is -1, but the number of rows is 6"):
        Gather().forward(np.zeros((2, 3, 4)), np.array([-1]))
