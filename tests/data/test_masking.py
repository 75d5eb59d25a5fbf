"""Masking: 15 % of the tokens, of which 80 / 10 / 10 % become [MASK], another word, or stay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbert.data import Vocabulary, mask_words
from npbert.layers import IGNORED
from tests.strategies import rngs

VOCABULARY = Vocabulary(f"w{number:02}" for number in range(50))
sentences = st.lists(st.integers(0, len(VOCABULARY) - 1), min_size=1, max_size=60)


@given(sentences.filter(lambda ids: max(ids) > 3), rngs, st.integers(1, 9))
def test_what_is_masked(input_ids, rng, max_predictions):
    masked, labels = mask_words(input_ids, VOCABULARY, rng, max_predictions=max_predictions)
    chosen = [position for position, label in enumerate(labels) if label != IGNORED]
    words = sum(token > 3 for token in input_ids)
    assert len(chosen) == min(max(1, round(0.15 * len(input_ids))), max_predictions, words)
    for position, (before, after, label) in enumerate(zip(input_ids, masked, labels, strict=True)):
        if position in chosen:
            assert label == before > 3, "a special token is never masked"
            assert after == VOCABULARY.mask_id or after > 3, "nor does it stand in for a word"
        else:
            assert after == before


def test_shares():
    """80 / 10 / 10, where a random word may by chance be the same one: 1 time in 50."""
    rng = np.random.default_rng(0)
    sentence = list(VOCABULARY.word_ids)
    became_mask = stayed = count = 0
    for _ in range(4000):
        masked, labels = mask_words(sentence, VOCABULARY, rng, max_predictions=99)
        for after, label in zip(masked, labels, strict=True):
            if label != IGNORED:
                count += 1
                became_mask += after == VOCABULARY.mask_id
                stayed += after == label
    assert count == 4000 * round(0.15 * 50)
    assert abs(became_mask / count - 0.8) < 0.01
    assert abs(stayed / count - (0.1 + 0.1 / 50)) < 0.01


def test_every_word_is_masked_and_every_word_stands_in():
    rng = np.random.default_rng(0)
    sentence = [VOCABULARY.cls_id, *VOCABULARY.word_ids, VOCABULARY.sep_id]
    hidden, stand_ins = set(), set()
    for _ in range(3000):
        masked, labels = mask_words(sentence, VOCABULARY, rng)
        hidden |= {label for label in labels if label != IGNORED}
        stand_ins |= {after for after, label in zip(masked, labels, strict=True) if label not in (IGNORED, after)}
    assert hidden == set(VOCABULARY.word_ids)
    assert stand_ins == {VOCABULARY.mask_id, *VOCABULARY.word_ids}


def test_the_argument_stays_and_a_seed_repeats():
    sentence = [1, 7, 8, 9, 2]
    once = mask_words(sentence, VOCABULARY, np.random.default_rng(3))
    assert sentence == [1, 7, 8, 9, 2]
    assert once == mask_words(sentence, VOCABULARY, np.random.default_rng(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probability": 0}, "probability is 0, wanted more than 0 and at most 1"),
        ({"probability": 1.5}, "probability is 1.5"),
        ({"max_predictions": 0}, "max_predictions is 0, wanted at least 1"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        mask_words([1, 7, 2], VOCABULARY, np.random.default_rng(0), **options)


def test_nothing_to_mask():
    with pytest.raises(ValueError, match=r"no word to mask in \['\[CLS\]', '\[SEP\]'\]"):
        mask_words([1, 2], VOCABULARY, np.random.default_rng(0))


class Pieces(Vocabulary):
    """A vocabulary whose words from w30 on continue the word before, as ##ing does."""

    def __init__(self):
        super().__init__(f"w{number:02}" for number in range(50))
        self.continues = np.arange(len(self)) >= len(self) - 20


PIECES = Pieces()


def words_of(input_ids):
    """The positions of each word."""
    words = []
    for position, token in enumerate(input_ids):
        if token <= 3:
            continue
        is_more = PIECES.continues[token] and position > 0 and input_ids[position - 1] > 3
        words[-1].append(position) if is_more else words.append([position])
    return words


@given(sentences.filter(lambda ids: max(ids) > 3), rngs, st.integers(1, 9), st.floats(0.05, 1))
def test_whole_words_are_masked_or_not_at_all(input_ids, rng, max_predictions, probability):
    options = {"probability": probability, "max_predictions": max_predictions, "whole_words": True}
    masked, labels = mask_words(input_ids, PIECES, rng, **options)
    chosen = {position for position, label in enumerate(labels) if label != IGNORED}
    words = words_of(input_ids)
    hidden = [word for word in words if set(word) <= chosen]
    assert chosen == {position for word in hidden for position in word}, "all tokens of a word or none, no special one"
    assert all(labels[position] == input_ids[position] for position in chosen)
    assert all(masked[i] == input_ids[i] for i in range(len(input_ids)) if i not in chosen)
    count = min(max(1, round(probability * len(input_ids))), max_predictions, sum(map(len, words)))
    assert len(hidden) == 1 or len(chosen) <= count, "only a word that is the first may be too long"
    left = [len(word) for word in words if word not in hidden]
    assert all(len(chosen) + length > count for length in left), "what still had room was taken"


def test_the_tokens_of_a_word_get_each_their_own_stand_in():
    word = [PIECES.word_ids[0], *PIECES.word_ids[-19:]]
    masked, labels = mask_words([1, *word, 2], PIECES, np.random.default_rng(0), probability=0.1, whole_words=True)
    assert labels == [IGNORED, *word, IGNORED], "the first word is masked whole, however long it is"
    masks = masked.count(PIECES.mask_id)
    assert 10 <= masks <= 19


def test_what_continues_a_word_beyond_a_special_token_is_a_word():
    for seed in range(9):
        _, labels = mask_words([1, 4, 2, 50, 2], PIECES, np.random.default_rng(seed), whole_words=True)
        assert sorted(labels) in ([IGNORED] * 4 + [4], [IGNORED] * 4 + [50])


def test_each_whole_word_is_chosen_as_often():
    rng = np.random.default_rng(0)
    sentence = [1, 4, 5, 50, 6, 7, 51, 52, 2]
    counts = dict.fromkeys([1, 2, 4, 5], 0)
    for _ in range(4000):
        _, labels = mask_words(sentence, PIECES, rng, probability=0.1, whole_words=True)
        first = next(position for position, label in enumerate(labels) if label != IGNORED)
        counts[first] += 1
    assert min(counts.values()) > 900
    assert sum(counts.values()) == 4000


def test_a_vocabulary_of_whole_words_is_masked_word_by_word():
    _, labels = mask_words([1, *range(4, 44), 2], VOCABULARY, np.random.default_rng(0), whole_words=True)
    assert sum(label != IGNORED for label in labels) == 5
