"""Masking: 15 % of the tokens, of which 80 / 10 / 10 % become [MASK], another word, or stay."""

from inspect import getmodule

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from npbert import IGNORED
from npbert.data import SPECIAL_TOKENS, Vocabulary, mask_words
from npbert.learn.exercises import masking
from npbert.learn.judge import judge
from tests.strategies import rngs

PIECES = Vocabulary([*SPECIAL_TOKENS, *(f"w{number:02}" for number in range(50))])
PIECES.continues = np.arange(len(PIECES)) >= 34  # w30 and so on continue the word before, as ##ing does


def words_of(input_ids, whole_words):
    """The positions of each word, or of each token that is no special one."""
    words = []
    for position, token in enumerate(input_ids):
        is_more = whole_words and PIECES.continues[token] and position > 0 and input_ids[position - 1] > 3
        if token > 3:
            words[-1].append(position) if is_more else words.append([position])
    return words


def hidden_in(labels):
    return [position for position, label in enumerate(labels) if label != IGNORED]


sentences = st.lists(st.integers(0, 53), min_size=1, max_size=60).filter(lambda ids: max(ids) > 3)


@given(sentences, rngs, st.integers(1, 9), st.floats(0.05, 1), st.booleans())
@example([1, 4, 50, 50, 50, 2], np.random.default_rng(0), 9, 0.05, True)  # the first word is masked, however long
@example([1, 4, 2, 50, 2], np.random.default_rng(0), 9, 0.05, True)  # what continues [SEP] is a word of its own
def test_what_is_masked(input_ids, rng, max_predictions, probability, whole_words):
    options = {"probability": probability, "max_predictions": max_predictions, "whole_words": whole_words}
    masked, labels = mask_words(input_ids, PIECES, rng, **options)
    chosen = set(hidden_in(labels))
    for position, (before, after, label) in enumerate(zip(input_ids, masked, labels, strict=True)):
        if position in chosen:
            assert label == before > 3, "a special token is never masked"
            assert after == PIECES.mask_id or after > 3, "nor does it stand in for a word"
        else:
            assert after == before
    words = words_of(input_ids, whole_words)
    hidden = [word for word in words if set(word) <= chosen]
    assert chosen == {position for word in hidden for position in word}, "all tokens of a word or none"
    count = min(max(1, round(probability * len(input_ids))), max_predictions, sum(map(len, words)))
    assert hidden
    assert len(hidden) == 1 or len(chosen) <= count, "only a word that is the first may be too long"
    left = [len(word) for word in words if word not in hidden]
    assert all(len(chosen) + length > count for length in left), "what still had room was taken"


def test_shares():
    """80 / 10 / 10, and any word and any pair of words as often as another."""
    assert judge(masking.BLANK, getmodule(masking.BLANK.right)) is None


@pytest.mark.parametrize(
    ("input_ids", "options", "message"),
    [
        ([1, 7, 2], {"probability": 0}, "probability is 0, wanted more than 0 and at most 1"),
        ([1, 7, 2], {"max_predictions": 0}, "max_predictions is 0, wanted at least 1"),
        ([1, 2], {}, r"input_ids is \['\[CLS\]', '\[SEP\]'\], wanted a word to mask"),
    ],
)
def test_errors(input_ids, options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        mask_words(input_ids, PIECES, np.random.default_rng(0), **options)
