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
