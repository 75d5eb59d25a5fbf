"""Sentence pairs: half follow each other, and no label is false."""

from collections import Counter

import numpy as np
import pytest

from npbert.data import IS_NEXT, NOT_NEXT, Vocabulary, all_pairs, draw_pairs, join_pair


def test_all_pairs_and_their_labels_as_in_the_code_of_the_paper():
    assert sorted(all_pairs(3)) == [(i, j, 0 if (i, j) in ((0, 1), (1, 2)) else 1) for i in range(3) for j in range(3)]
    assert (IS_NEXT, NOT_NEXT) == (0, 1)


def test_half_is_next_and_every_pair_is_drawn_equally_often_within_its_half():
    counts = Counter(draw_pairs(4, 60_000, np.random.default_rng(0)))
    assert set(counts) == set(all_pairs(4))
    for (*_, label), count in counts.items():
        expected = 30_000 / (3 if label == IS_NEXT else 13)
        assert abs(count - expected) < 6 * expected**0.5


def test_the_two_halves_are_mixed():
    labels = [[label for *_, label in draw_pairs(5, 4, np.random.default_rng(seed))] for seed in range(20)]
    assert {tuple(sorted(row)) for row in labels} == {(IS_NEXT, IS_NEXT, NOT_NEXT, NOT_NEXT)}
    assert {row[0] for row in labels} == {IS_NEXT, NOT_NEXT}


def test_joining():
    vocabulary = Vocabulary("abc")
    input_ids, token_type_ids = join_pair([4, 5], [6], vocabulary)
    assert vocabulary.decode(input_ids) == ["[CLS]", "a", "b", "[SEP]", "c", "[SEP]"]
    assert token_type_ids == [0, 0, 0, 0, 1, 1]
    assert join_pair([4, 5], None, vocabulary) == (input_ids[:4], [0] * 4)


@pytest.mark.parametrize(("num_lines", "count"), [(4, 3), (4, 0), (4, -2), (1, 2)])
def test_errors(num_lines, count):
    message = (
        f"count is {count}, wanted a positive even number" if num_lines > 1 else "1 lines have no line that follows"
    )
    with pytest.raises(ValueError, match=f"^{message}"):
        draw_pairs(num_lines, count, np.random.default_rng(0))
    assert len(draw_pairs(2, 2, np.random.default_rng(0))) == 2
