"""Sentence pairs: half follow each other, and no label is false."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert.data import IS_NEXT, NOT_NEXT, Vocabulary, all_pairs, draw_pairs, join_pair
from tests.strategies import rngs


@given(st.integers(2, 12), st.integers(1, 20), rngs)
def test_half_is_next_and_labels_are_true(num_lines, half, rng):
    pairs = draw_pairs(num_lines, 2 * half, rng)
    assert Counter(pair.next_sentence_label for pair in pairs) == {IS_NEXT: half, NOT_NEXT: half}
    assert set(pairs) <= set(all_pairs(num_lines))
    assert all((label == IS_NEXT) == (second == first + 1) for first, second, label in pairs)


def test_every_pair_is_drawn_equally_often_within_its_half():
    counts = Counter(draw_pairs(4, 60_000, np.random.default_rng(0)))
    assert set(counts) == set(all_pairs(4))
    for (*_, label), count in counts.items():
        expected = 30_000 / (3 if label == IS_NEXT else 13)
        assert abs(count - expected) < 6 * expected**0.5


def test_the_two_halves_are_mixed():
    first_labels = {draw_pairs(5, 4, np.random.default_rng(seed))[0].next_sentence_label for seed in range(20)}
    assert first_labels == {IS_NEXT, NOT_NEXT}


def test_all_pairs_and_their_labels_as_in_the_code_of_the_paper():
    assert sorted(all_pairs(3)) == [(i, j, 0 if (i, j) in ((0, 1), (1, 2)) else 1) for i in range(3) for j in range(3)]
    assert (IS_NEXT, NOT_NEXT) == (0, 1)


def test_joining():
    vocabulary = Vocabulary("abc")
    input_ids, token_type_ids = join_pair([4, 5], [6], vocabulary)
    assert vocabulary.decode(input_ids) == ["[CLS]", "a", "b", "[SEP]", "c", "[SEP]"]
    assert token_type_ids == [0, 0, 0, 0, 1, 1]
    assert join_pair([4, 5], None, vocabulary) == (input_ids[:4], [0] * 4)


@pytest.mark.parametrize(
    ("num_lines", "count", "message"),
    [
        (4, 3, "count is 3, wanted a positive even number"),
        (4, 0, "count is 0, wanted a positive even number"),
        (4, -2, "count is -2, wanted a positive even number"),
        (1, 2, "1 lines have no line that follows another"),
    ],
)
def test_errors(num_lines, count, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        draw_pairs(num_lines, count, np.random.default_rng(0))
    assert draw_pairs(2, 2, np.random.default_rng(0))
