"""Attention in pieces: each query meets each key of its sequence, once. sequencewise: parts are the whole."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npbert import NO_TAPE, Sequences
from npbert.compute import attention_pieces, sequencewise
from tests.computing import in_pieces, nothing_is_nan, on_threads
from tests.strategies import read_of, rows_of, sequences

D = 4


def vector(row, head):
    """A row of one head, so that it can be told from all others."""
    return tuple(row * 1000 + feature for feature in range(head * D, (head + 1) * D))


@settings(max_examples=40)
@given(st.data(), sequences(), st.integers(1, 3), st.sampled_from([1, 5, 30, 10**6]), st.booleans())
def test_pieces_are_every_pair_of_a_sequence_once(data, some, num_heads, block, all_are_read):
    read = np.arange(some.num_rows) if all_are_read else data.draw(read_of(some))
    some = some if all_are_read else some.only(read)
    wanted = Counter(
        (vector(number, head), vector(other, head))
        for rows, (number, row), head in itertools.product(rows_of(some), enumerate(read), range(num_heads))
        if row in rows
        for other in rows.tolist()
    )
    with in_pieces(block):
        pieces = attention_pieces(some.query_lengths, some.lengths, num_heads)
    x, z = (np.arange(n)[:, None] * 1000 + np.arange(num_heads * D) for n in (len(read), some.num_rows))
    met = Counter()
    for piece in pieces:
        q, k = piece.queries(x), piece.keys(z)
        assert (*q.shape[:3], k.shape[2]) == piece.scores_shape
        assert np.shares_memory(q, x) or not q.size
        for n, h in np.ndindex(q.shape[:2]):
            met.update(itertools.product(map(tuple, q[n, h].tolist()), map(tuple, k[n, h].tolist())))
    assert met == wanted
    assert all(math.prod(piece.scores_shape[:2]) == 1 or math.prod(piece.scores_shape) <= block for piece in pieces)


def of_each(x, sequences, read, tape):
    """Rows that know of their whole sequence and of no other, and of their place in it."""
    y = np.concatenate([x[rows] + x[rows].sum() * np.arange(1, len(rows) + 1)[:, None] for rows in rows_of(sequences)])
    return y if read is None else y[read]


def assert_parts_are_the_whole(some, read, threads):
    x = np.random.default_rng(0).standard_normal((some.num_rows, D))
    with on_threads(threads), in_pieces(1), nothing_is_nan():
        y = sequencewise(of_each, x, some, read, NO_TAPE)
    np.testing.assert_allclose(y, of_each(x, some, read, NO_TAPE), rtol=1e-13)


@settings(max_examples=40)
@given(st.data(), sequences(most=7), st.integers(1, 4), st.sampled_from([None, np.int64, np.uint8, np.uint64]))
def test_sequencewise_is_the_whole(data, some, threads, dtype):
    assert_parts_are_the_whole(some, None if dtype is None else data.draw(read_of(some)).astype(dtype), threads)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64])
@pytest.mark.parametrize("lengths", [[100, 200, 300], [1, 1, 100, 1], [1, 1, 200], [300, 1, 1]], ids=str)
def test_lengths_that_differ_much_and_rows_with_larger_numbers_than_the_dtype_of_read(lengths, dtype):
    for threads in (2, 3, 4):
        assert_parts_are_the_whole(Sequences(lengths), np.array([0, 2, 99, 102], dtype), threads)
        assert_parts_are_the_whole(Sequences(lengths), None, threads)


@pytest.mark.parametrize(("threads", "rows"), [(1, [12]), (2, [6, 6]), (4, [3, 3, 3, 3])])
def test_each_thread_has_its_share(threads, rows):
    seen = []
    with on_threads(threads), in_pieces(1):
        sequencewise(lambda x, *_: seen.append(len(x)) or x, np.ones((12, D)), Sequences([3, 3, 3, 3]), None, NO_TAPE)
    assert seen == rows
