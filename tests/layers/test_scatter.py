"""add_rows: as np.add.at, whatever repeats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from npbert.layers.scatter import add_rows

from tests.strategies import ids, rngs, sizes


@given(st.data(), sizes, sizes, st.lists(st.integers(0, 4), min_size=1, max_size=3), rngs)
def test_as_numpy_does(data, count, features, shape, rng):
    places = data.draw(ids(count, *shape)).astype(data.draw(st.sampled_from([int, np.int32, np.uint8, np.uint64])))
    y = rng.standard_normal((*shape, features))
    table = rng.standard_normal((count, features))
    expected = table.copy()
    np.add.at(expected, places, y)
    add_rows(table, places, y)
    np.testing.assert_allclose(table, expected, rtol=1e-12, atol=1e-12)


def test_a_row_that_comes_once_three_times_and_never():
    table = np.ones((4, 2))
    add_rows(table, np.array([3, 0, 3, 3]), np.array([[1.0, 2], [10, 20], [3, 4], [5, 6]]))
    np.testing.assert_array_equal(table, [[11, 21], [1, 1], [1, 1], [10, 13]])


def test_the_order_in_which_a_row_s_vectors_are_added_is_theirs():
    """So that two runs give the same bits: 1e16 + 1 − 1e16 is 0, in another order 1."""
    table = np.zeros((2, 1))
    add_rows(table, np.array([1, 0, 1, 0, 1]), np.array([[1e16], [5], [1], [6], [-1e16]]))
    np.testing.assert_array_equal(table, [[11], [0]])


def test_so_it_is_for_many_vectors():
    rng = np.random.default_rng(0)
    places, y, table = (
        rng.integers(3, size=5000),
        rng.standard_normal((5000, 2), np.float32),
        np.zeros((3, 2), np.float32),
    )
    add_rows(table, places, y)
    np.testing.assert_array_equal(table, [y[places == row].sum(axis=0) for row in range(3)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_table_keeps_its_dtype_and_y_its_values(dtype):
    table, y = np.zeros((2, 3), dtype), np.ones((4, 3), dtype)
    y.flags.writeable = False
    add_rows(table, np.array([1, 1, 0, 1]), y)
    assert table.dtype == dtype
    np.testing.assert_array_equal(table, [[1] * 3, [3] * 3])
