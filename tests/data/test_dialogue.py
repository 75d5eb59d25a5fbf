"""The dialogues and their vocabulary; pairs of their lines, of which half follow each other; examples, padded."""

from collections import Counter
from functools import partial

import numpy as np
import pytest

from npbert import IGNORED, data
from npbert.data import Example, Pair, Vocabulary, collate, draw_pairs, load_dialogue


@pytest.mark.parametrize(("num_lines", "vocab_size"), [(6, 29), (9, 40)])
def test_a_dialogue_and_its_words(num_lines, vocab_size):
    """Words are sorted, so their ids are the same in every process, whatever its hash seed."""
    assert data.split_words("Great. My base-ball team, won!  OK?") == ["great", "my", "baseball", "team", "won", "ok"]
    dialogue = load_dialogue(num_lines)
    vocabulary = dialogue.vocabulary
    assert (len(dialogue.lines), len(vocabulary)) == (num_lines, vocab_size)
    for text, line in zip(dialogue.text, dialogue.lines, strict=True):
        assert vocabulary.decode(line) == data.split_words(text)
    assert vocabulary.tokens[:4] == [*data.SPECIAL_TOKENS] == ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
    assert (vocabulary.pad_id, vocabulary.cls_id, vocabulary.sep_id, vocabulary.mask_id) == (0, 1, 2, 3)
    assert vocabulary.word_ids.tolist() == list(range(4, vocab_size))
    assert vocabulary.tokens[4:] == sorted({word for text in dialogue.text for word in data.split_words(text)})


def test_half_is_next_and_every_pair_is_drawn_equally_often_within_its_half():
    counts = Counter(draw_pairs(4, 60_000, np.random.default_rng(0)))
    assert set(counts) == {(i, j, int(j != i + 1)) for i in range(4) for j in range(4)}, "as in the paper's code"
    for (*_, label), count in counts.items():
        expected = 30_000 / (3 if label == data.IS_NEXT else 13)
        assert abs(count - expected) < 6 * expected**0.5


def test_an_example_is_a_pair_with_masks():
    dialogue = load_dialogue(9)
    example = data.make_example(dialogue, Pair(5, 4, 1), np.random.default_rng(0))
    unmasked = np.where(np.array(example.labels) == IGNORED, example.input_ids, example.labels)
    words = "[CLS] thank you romeo [SEP] oh congratulations juliet [SEP]"
    assert " ".join(dialogue.vocabulary.decode(unmasked)) == words
    assert (example.token_type_ids, example.next_sentence_label) == ([0] * 5 + [1] * 4, 1)
    assert sum(label != IGNORED for label in example.labels) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: collate([], pad_id=0), ValueError, r"^input_ids has shape \(0, 0\), wanted \(B, T\)"),
        (lambda: Example([1, 7, 2], [0], [1, 1, 1], 0), ValueError, r"have \(3, 1, 3\) tokens, wanted one length"),
        *[(partial(draw_pairs, 4, n, None), ValueError, f"count is {n}, wanted a positive even") for n in (3, 0, -2)],
        (
            lambda: Vocabulary([*data.SPECIAL_TOKENS, "a", "tt"]).ids("amt"),
            ValueError,
            "^not in the vocabulary: 'm', 't'$",
        ),
        (
            lambda: Vocabulary(["[PAD]", "[SEP]"]),
            ValueError,
            r"^the vocabulary has no \[CLS\], wanted every special token$",
        ),
        (lambda: load_dialogue(7), ValueError, "^num_lines is 7, wanted 6 or 9$"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
