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


def meetings(pieces, num_looking, num_rows, num_heads):
    """How often each row that looks meets each row that is looked at, by head and feature of both."""
    features = np.arange(num_heads * D)
    x, z = (np.arange(count)[:, None] * 1000 + features for count in (num_looking, num_rows))
    met = Counter()
    for piece in pieces:
        q, k = piece.queries(x), piece.keys(z)
        assert (*q.shape[:3], k.shape[2]) == piece.scores
        assert np.shares_memory(q, x) or not q.size
        for n, h in np.ndindex(q.shape[:2]):
            met.update(itertools.product(map(tuple, q[n, h].tolist()), map(tuple, k[n, h].tolist())))
    return met


def wanted_meetings(sequences, looking, num_heads):
    wanted = Counter()
    for rows in rows_of(sequences):
        for (number, row), other, h in itertools.product(enumerate(looking.tolist()), rows.tolist(), range(num_heads)):
            if row in rows:
                features = range(h * D, (h + 1) * D)
                wanted[tuple(number * 1000 + f for f in features), tuple(other * 1000 + f for f in features)] += 1
    return wanted


@settings(max_examples=40)
@given(st.data(), sequences(), st.integers(1, 3), st.sampled_from([1, 5, 30, 10**6]), st.booleans())
def test_pieces_are_every_pair_of_a_sequence_once(data, all_look, num_heads, block, all_are_read):
    read = np.arange(all_look.num_rows) if all_are_read else data.draw(read_of(all_look))
    some_look = all_look if all_are_read else all_look.only(read)
    wanted = wanted_meetings(all_look, read, num_heads)
    with in_pieces(block):
        pieces = some_look.pieces(num_heads)
    assert meetings(pieces, len(read), all_look.num_rows, num_heads) == wanted
    assert meetings(some_look.each(num_heads), len(read), all_look.num_rows, num_heads) == wanted
    assert [piece.scores[1:2] + piece.scores[3:] for piece in some_look.each(num_heads)] == [
        (num_heads, length) for length in all_look.lengths
    ]
    for piece in pieces:
        n, heads, r, t = piece.scores
        assert n * heads == 1 or math.prod((n, heads, r, t)) <= block


@settings(max_examples=40)
@given(st.data(), sequences())
def test_only_counts_the_rows_of_each_sequence_that_are_read(data, all_look):
    read = data.draw(read_of(all_look))
    some_look = all_look.only(read.astype(data.draw(st.sampled_from([np.int64, np.uint8, np.uint64, np.int32]))))
    assert some_look.looking.tolist() == [int(np.isin(rows, read).sum()) for rows in rows_of(all_look)]
    assert (some_look.num_looking, some_look.num_rows) == (len(read), all_look.num_rows)
    assert some_look.lengths.tolist() == all_look.lengths.tolist()


def test_what_can_be_asked_of_it():
    some = Sequences([2, 1, 4])
    assert (some.num_rows, some.num_looking, some.ends.tolist()) == (7, 7, [2, 3, 7])
    assert repr(some) == "Sequences(lengths=[2, 1, 4])"


def of_each(x, sequences, read):
    """Rows that know of their whole sequence and of no other, and of their place in it."""
    y = np.concatenate([x[rows] + x[rows].sum() * np.arange(1, len(rows) + 1)[:, None] for rows in rows_of(sequences)])
    return y if read is None else y[read]


@settings(max_examples=40)
@given(st.data(), sequences(most=7), st.integers(1, 4), st.sampled_from([None, np.int64, np.uint8, np.uint64]))
def test_in_parts_is_the_whole(data, some, threads, dtype):
    read = None if dtype is None else data.draw(read_of(some)).astype(dtype)
    x = np.random.default_rng(0).standard_normal((some.num_rows, D))
    with on_threads(threads), in_pieces(1), nothing_is_nan():
        y = some.in_parts(of_each, x, read)
    np.testing.assert_allclose(y, of_each(x, some, read), rtol=1e-13)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64])
def test_in_parts_whose_rows_have_larger_numbers_than_the_dtype_of_read(threads, dtype):
    some, read = Sequences([100, 200, 300]), np.array([0, 3, 99, 120], dtype)
    x = np.random.default_rng(0).standard_normal((600, D))
    with on_threads(threads), in_pieces(1):
        np.testing.assert_allclose(some.in_parts(of_each, x, read), of_each(x, some, read), rtol=1e-13)


@pytest.mark.parametrize(
    "lengths",
    [[0], [2, 0, 1], [3, -1], [1.5, 2], [], [[1, 2]], 3, [True, True], ["2"]],
    ids=str,
)
def test_lengths_are_whole_numbers_of_at_least_1(lengths):
    with pytest.raises(ValueError, match=r"^lengths are .*, wanted a list of whole numbers of at least 1$"):
        Sequences(lengths)


@pytest.mark.parametrize(
    ("read", "error", "message"),
    [
        (np.array([1, 0]), ValueError, "the rows to read are not in ascending order"),
        (np.array([1, 0], np.uint64), ValueError, "the rows to read are not in ascending order"),
        (np.array([0, 5]), IndexError, r"read\[1\] is 5, but the number of rows is 5"),
        (np.array([-1, 2]), IndexError, r"read\[0\] is -1"),
        (np.array([0.0, 1.0]), TypeError, "read must be an array of integers, got float64"),
        (np.ones(5, bool), TypeError, "read must be an array of integers, got bool"),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_cannot_be_read(read, error, message, threads):
    some = Sequences([2, 3])
    with pytest.raises(error, match=message):
        some.only(read)
    with on_threads(threads), in_pieces(1), pytest.raises(error, match=message):
        some.in_parts(of_each, np.ones((5, D)), read)
