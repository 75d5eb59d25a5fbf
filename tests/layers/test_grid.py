"""Grid: vectors in a rectangle, and some of them in a narrower one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from npbert.layers.grid import Grid

from tests.strategies import rngs, sizes


@st.composite
def grids(draw):
    """Places in a rectangle, some sequences without any."""
    shape = draw(sizes), draw(sizes)
    is_there = np.array(draw(st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])))
    return Grid(shape, np.flatnonzero(is_there))


@given(grids(), rngs)
def test_there_and_back(grid, rng):
    x = rng.standard_normal((len(grid.places), 3))
    spread = grid.spread(x)
    assert spread.shape == (*grid.shape, 3)
    np.testing.assert_array_equal(spread.reshape(-1, 3)[grid.places], x)
    assert np.count_nonzero(spread) == x.size
    np.testing.assert_array_equal(grid.collect(spread), x)


@given(grids(), rngs)
def test_each_is_the_backward_of_the_other(grid, rng):
    """⟨spread x, y⟩ = ⟨x, collect y⟩: one matrix is the transpose of the other."""
    x, y = rng.standard_normal((len(grid.places), 3)), rng.standard_normal((*grid.shape, 3))
    np.testing.assert_allclose((grid.spread(x) * y).sum(), (x * grid.collect(y)).sum(), rtol=1e-12, atol=1e-12)


def test_all_places_in_order():
    x = np.arange(24.0).reshape(6, 4)
    grid = Grid((2, 3))
    np.testing.assert_array_equal(grid.spread(x), x.reshape(2, 3, 4))
    np.testing.assert_array_equal(grid.spread(x.reshape(2, 3, 4)), x.reshape(2, 3, 4))
    np.testing.assert_array_equal(grid.collect(x.reshape(2, 3, 4)), x)
    assert np.shares_memory(grid.spread(x), x)


@given(st.data(), grids() | st.builds(lambda b, t: Grid((b, t)), sizes, sizes))
def test_some_of_the_vectors_stay_in_their_sequences_in_order(data, grid):
    places = np.arange(grid.shape[0] * grid.shape[1]) if grid.places is None else grid.places
    numbers = st.integers(0, max(0, len(places) - 1))
    chosen = np.array(sorted(data.draw(st.sets(numbers, max_size=len(places)))) if len(places) else [], int)
    some = grid.of_rows(chosen)
    batch_size, length = grid.shape
    expected = [[row for row in chosen if places[row] // length == b] for b in range(batch_size)]
    assert some.shape == (batch_size, max(map(len, expected)))
    spread = some.spread(1.0 + chosen[:, None])[..., 0]
    for got, rows in zip(spread, expected, strict=True):
        np.testing.assert_array_equal(got, [1 + row for row in rows] + [0] * (some.shape[1] - len(rows)))


def test_an_example():
    grid = Grid((3, 4), np.array([0, 1, 3, 4, 8, 9, 10])).of_rows(np.array([1, 2, 5]))
    assert grid.shape == (3, 2)
    np.testing.assert_array_equal(grid.places, [0, 1, 4])


@pytest.mark.parametrize("grid", [Grid((2, 3)), Grid((2, 3), np.array([0, 4]))])
def test_none_of_the_vectors(grid):
    none = grid.of_rows(np.array([], int))
    assert none.shape == (2, 0)
    assert none.spread(np.zeros((0, 5))).shape == (2, 0, 5)
    assert none.collect(np.zeros((2, 0, 5))).shape == (0, 5)


def test_dtype_stays():
    assert Grid((2, 3), np.array([1, 4])).spread(np.ones((2, 3), np.float32)).dtype == np.float32
