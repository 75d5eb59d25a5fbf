"""Attention over packed rows: its probabilities, and the same bits on any number of threads.

That it is the formula in each sequence by itself, whatever the sequences, is tested in layers/test_layers.py.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert import DotProductAttention, Sequences, Tape
from npbert.core.sequences import BLOCK
from tests.computing import in_pieces, nothing_is_nan, on_threads
from tests.strategies import read_of, sequences, values

H, D = 3, 6


@given(sequences(), st.data())
def test_probabilities_are_what_each_value_counts(some, data):
    some = some.only(data.draw(read_of(some)))
    q, k, v = (data.draw(values(count, D)) for count in (some.num_looking, some.num_rows, some.num_rows))
    layer = DotProductAttention(H)
    c = np.split(layer(q, k, v, some), np.cumsum(some.looking)[:-1])
    of_each = layer.probabilities(q, k, some)
    assert [p.shape for p in of_each] == [(H, *counts) for counts in zip(some.looking, some.lengths, strict=True)]
    for p, rows, v_rows in zip(of_each, c, np.split(v, some.ends[:-1]), strict=True):
        np.testing.assert_allclose(p.sum(axis=-1), 1, rtol=1e-13)
        for head, features in enumerate(np.split(np.arange(D), H)):
            np.testing.assert_allclose(p[head] @ v_rows[:, features], rows[:, features], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block", [1, 40, BLOCK])
def test_a_seed_gives_the_same_bits_on_any_number_of_threads(block, dtype):
    """Dropout among them: 3 of 10 weights are dropped, the same by the same seed, and others by another."""
    some, rng = Sequences([4, 4, 1, 7, 7, 7, 2]), np.random.default_rng(0)
    q, k, v, dc = rng.standard_normal((4, some.num_rows, D)).astype(dtype)
    results = []
    for threads, seed in ((1, 1), (2, 1), (3, 1), (3, 1), (3, 2)):
        layer, tape = DotProductAttention(H, 0.3), Tape(np.random.default_rng(seed))
        with on_threads(threads), in_pieces(block, 10**6), nothing_is_nan():
            c = layer.forward(q, k, v, some, tape)
            results.append([c, *layer.backward(dc, tape)])
    for arrays in results[1:-1]:
        for got, wanted in zip(arrays, results[0], strict=True):
            np.testing.assert_array_equal(got, wanted, strict=True)
    assert all(np.abs(got - wanted).max() > 0.01 for got, wanted in zip(results[-1], results[0], strict=True))
