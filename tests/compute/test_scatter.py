"""scatter_add: as np.add.at, whatever repeats."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from npbert.compute import scatter_add
from tests.strategies import awkward, ids, sizes


@given(st.data(), sizes, sizes, st.integers(0, 9))
def test_as_numpy_does(data, count, features, rows):
    dtype = data.draw(st.sampled_from([np.int64, np.int32, np.uint8, np.uint64]))
    places, y = data.draw(ids(count, rows)).astype(dtype), data.draw(awkward(rows, features))
    y.flags.writeable = places.flags.writeable = False
    table = np.random.default_rng(0).standard_normal((count, features))
    expected, sizes_added = table.copy(), np.abs(table)
    np.add.at(expected, places, y)
    np.add.at(sizes_added, places, np.abs(y))
    scatter_add(table, places, y)
    assert (np.abs(table - expected) <= 1e-15 * sizes_added).all()


def test_a_row_s_vectors_are_added_in_their_order():
    """So that two runs give the same bits: 1e16 + 1 − 1e16 is 0, in another order 1."""
    table = np.zeros((3, 1))
    scatter_add(table, np.array([1, 0, 1, 0, 1]), np.array([[1e16], [5], [1], [6], [-1e16]]))
    np.testing.assert_array_equal(table, [[11], [0], [0]])
    rng = np.random.default_rng(0)
    places, y, table = rng.integers(3, size=5000), rng.standard_normal((5000, 2), np.float32), np.zeros((3, 2), "f4")
    scatter_add(table, places, y)
    np.testing.assert_array_equal(table, [y[places == row].sum(axis=0) for row in range(3)], strict=True)
