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
    for first, second, label in pairs:
        assert 0 <= first < num_lines
        assert 0 <= second < num_lines
        assert (label == IS_NEXT) == (second == first + 1)


def test_every_pair_is_drawn_equally_often_within_its_half():
    counts = Counter(draw_pairs(4, 60_000, np.random.default_rng(0)))
    assert set(counts) == set(all_pairs(4))
    for (*_, label), count in counts.items():
        expected = 30_000 / (3 if label == IS_NEXT else 13)
        assert abs(count - expected) < 6 * expected**0.5


def test_the_two_halves_are_mixed():
    first_labels = {draw_pairs(5, 4, np.random.default_rng(seed))[0].next_sentence_label for seed in range(20)}
    assert first_labels == {IS_NEXT, NOT_NEXT}


def test_is_next_is_0_as_in_the_paper_s_code():
    assert (IS_NEXT, NOT_NEXT) == (0, 1)


def test_all_pairs():
    pairs = all_pairs(3)
    assert len(pairs) == len(set(pairs)) == 9
    assert [pair[:2] for pair in pairs if pair.next_sentence_label == IS_NEXT] == [(0, 1), (1, 2)]


def test_joining():
    vocabulary = Vocabulary("abc")
    input_ids, token_type_ids = join_pair([4, 5], [6], vocabulary)
    assert vocabulary.decode(input_ids) == ["[CLS]", "a", "b", "[SEP]", "c", "[SEP]"]
    assert token_type_ids == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("count", [3, 0, -2])
def test_wrong_count(count):
    with pytest.raises(ValueError, match=f"count is {count}, wanted a positive even number"):
        draw_pairs(4, count, np.random.default_rng(0))


def test_one_line_has_no_next():
    with pytest.raises(ValueError, match="1 lines have no line that follows another"):
        draw_pairs(1, 2, np.random.default_rng(0))
