"""From pairs to examples, and from examples to a padded batch."""

import numpy as np
import pytest

from npbert.data import Example, Pair, collate, load_dialogue, make_example
from npbert.layers import IGNORED


def test_an_example_is_a_pair_with_masks():
    dialogue = load_dialogue(9)
    example = make_example(dialogue, Pair(5, 4, 1), np.random.default_rng(0))
    unmasked = np.where(np.array(example.labels) == IGNORED, example.input_ids, example.labels)
    words = ["[CLS]", "thank", "you", "romeo", "[SEP]", "oh", "congratulations", "juliet", "[SEP]"]
    assert dialogue.vocabulary.decode(unmasked) == words
    assert example.token_type_ids == [0] * 5 + [1] * 4
    assert example.next_sentence_label == 1
    assert sum(label != IGNORED for label in example.labels) == 1


EXAMPLES = [Example([1, 7, 2], [0, 0, 0], [IGNORED, 7, IGNORED], 0), Example([1, 2], [0, 1], [IGNORED, 9], 1)]


def test_padding_is_no_token_of_note():
    batch = collate(EXAMPLES, pad_id=5)
    np.testing.assert_array_equal(batch.input_ids, [[1, 7, 2], [1, 2, 5]])
    np.testing.assert_array_equal(batch.token_type_ids, [[0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(batch.attention_mask, [[1, 1, 1], [1, 1, 0]])
    np.testing.assert_array_equal(batch.labels, [[IGNORED, 7, IGNORED], [IGNORED, 9, IGNORED]])
    np.testing.assert_array_equal(batch.next_sentence_label, [0, 1])


def test_padding_to_a_length():
    assert collate(EXAMPLES, pad_id=0, length=6).input_ids.shape == (2, 6)
    with pytest.raises(ValueError, match="an example has 3 tokens, more than length 2"):
        collate(EXAMPLES, pad_id=0, length=2)
    with pytest.raises(ValueError, match="no examples"):
        collate([], pad_id=0)


def test_lists_of_different_lengths():
    with pytest.raises(ValueError, match=r"have \(3, 1, 3\) tokens, wanted one length"):
        Example([1, 7, 2], [0], [IGNORED, 7, IGNORED], 0)


def test_ids_that_are_no_integers():
    with pytest.raises(TypeError, match="input_ids must be an array of integers, got float64"):
        collate([Example([1.7, 2.0], [0, 0], [IGNORED, 7], 0)], pad_id=0)
