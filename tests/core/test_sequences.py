"""Sequences: whatever they are cut into, each row meets each row of its sequence once, and no other."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npbert import Sequences
from tests.computing import in_pieces, nothing_is_nan, on_threads
from tests.strategies import read_of, sequences

D = 4


def rows_of(sequences):
    """The rows of each sequence."""
    return np.split(np.arange(sequences.num_rows), sequences.ends[:-1])


def vector(row, head):
    """What a row is in one head, so that it can be told from all others."""
    return tuple(row * 1000 + feature for feature in range(head * D, (head + 1) * D))


def meetings(pieces, num_looking, num_rows, num_heads):
    """How often each vector that looks meets each vector that is looked at."""
    x, z = (np.arange(n)[:, None] * 1000 + np.arange(num_heads * D) for n in (num_looking, num_rows))
    met = Counter()
    for piece in pieces:
        q, k = piece.queries(x), piece.keys(z)
        assert (*q.shape[:3], k.shape[2]) == piece.scores_shape
        assert np.shares_memory(q, x) or not q.size
        for n, h in np.ndindex(q.shape[:2]):
            met.update(itertools.product(map(tuple, q[n, h].tolist()), map(tuple, k[n, h].tolist())))
    return met


@settings(max_examples=40)
@given(st.data(), sequences(), st.integers(1, 3), st.sampled_from([1, 5, 30, 10**6]), st.booleans())
def test_pieces_are_every_pair_of_a_sequence_once(data, all_look, num_heads, block, all_are_read):
    read = np.arange(all_look.num_rows) if all_are_read else data.draw(read_of(all_look))
    some_look = all_look if all_are_read else all_look.only(read)
    wanted = Counter(
        (vector(number, head), vector(other, head))
        for rows, (number, row), head in itertools.product(rows_of(all_look), enumerate(read), range(num_heads))
        if row in rows
        for other in rows.tolist()
    )
    with in_pieces(block):
        pieces = some_look.pieces(num_heads)
    each = some_look.each(num_heads)
    for cut in (pieces, each):
        assert meetings(cut, len(read), all_look.num_rows, num_heads) == wanted
    counts = zip(some_look.looking, some_look.lengths, strict=True)
    assert [piece.scores_shape for piece in each] == [(1, num_heads, m, t) for m, t in counts]
    assert all(math.prod(piece.scores_shape[:2]) == 1 or math.prod(piece.scores_shape) <= block for piece in pieces)


@settings(max_examples=40)
@given(st.data(), sequences(), st.sampled_from([np.int64, np.uint8, np.uint64, np.int32]))
def test_only_counts_the_rows_of_each_sequence_that_are_read(data, all_look, dtype):
    read = data.draw(read_of(all_look)).astype(dtype)
    some_look = all_look.only(read)
    assert some_look.looking.tolist() == [sum(row in rows for row in read) for rows in rows_of(all_look)]
    assert (some_look.num_looking, some_look.num_rows) == (len(read), all_look.num_rows)
    assert repr(some_look) == f"Sequences(lengths={all_look.lengths.tolist()})"


def of_each(x, sequences, read):
    """Rows that know of their whole sequence and of no other, and of their place in it."""
    y = np.concatenate([x[rows] + x[rows].sum() * np.arange(1, len(rows) + 1)[:, None] for rows in rows_of(sequences)])
    return y if read is None else y[read]


def assert_parts_are_the_whole(some, read, threads):
    x = np.random.default_rng(0).standard_normal((some.num_rows, D))
    with on_threads(threads), in_pieces(1), nothing_is_nan():
        y = some.in_parts(of_each, x, read)
    np.testing.assert_allclose(y, of_each(x, some, read), rtol=1e-13)


@settings(max_examples=40)
@given(st.data(), sequences(most=7), st.integers(1, 4), st.sampled_from([None, np.int64, np.uint8, np.uint64]))
def test_in_parts_is_the_whole(data, some, threads, dtype):
    assert_parts_are_the_whole(some, None if dtype is None else data.draw(read_of(some)).astype(dtype), threads)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64])
@pytest.mark.parametrize("lengths", [[100, 200, 300], [1, 1, 100, 1], [1, 1, 200], [300, 1, 1]], ids=str)
def test_in_parts_when_lengths_differ_much_and_rows_have_larger_numbers_than_the_dtype_of_read(lengths, dtype):
    for threads in (2, 3, 4):
        assert_parts_are_the_whole(Sequences(lengths), np.array([0, 2, 99, 102], dtype), threads)
        assert_parts_are_the_whole(Sequences(lengths), None, threads)


@pytest.mark.parametrize("lengths", [[0], [2, 0, 1], [3, -1], [1.5, 2], [], [[1, 2]], 3, [True, True], ["2"]], ids=str)
def test_lengths_are_whole_numbers_of_at_least_1(lengths):
    with pytest.raises(ValueError, match=r"^lengths are .*, wanted a list of whole numbers of at least 1$"):
        Sequences(lengths)


DESCENDING, NO_INTEGERS = "^the rows to read are not in ascending order$", "^read must be an array of integers, got "
WRONG = [([1, 0], int, ValueError, DESCENDING), ([1, 0], "u8", ValueError, DESCENDING)]
WRONG += [([0.0, 1.0], float, TypeError, NO_INTEGERS + "float64"), ([True] * 5, bool, TypeError, NO_INTEGERS + "bool")]
WRONG += [([0, 5], int, IndexError, r"read\[1\] is 5, but the number of rows is 5"), ([-1], int, IndexError, "is -1")]


@pytest.mark.parametrize(("read", "dtype", "error", "message"), WRONG)
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_cannot_be_read(read, dtype, error, message, threads):
    some, read = Sequences([2, 3]), np.array(read, dtype)
    with pytest.raises(error, match=message):
        some.only(read)
    with on_threads(threads), in_pieces(1), pytest.raises(error, match=message):
        some.in_parts(of_each, np.ones((5, D)), read)
