"""The dialogues and their vocabulary."""

import os
import subprocess
import sys

import pytest

from npbert.data import SPECIAL_TOKENS, Vocabulary, load_dialogue, split_words


@pytest.mark.parametrize(("num_lines", "vocab_size"), [(6, 29), (9, 40)])
def test_sizes(num_lines, vocab_size):
    dialogue = load_dialogue(num_lines)
    assert len(dialogue.text) == len(dialogue.lines) == num_lines
    assert len(dialogue.vocabulary) == vocab_size
    for text, line in zip(dialogue.text, dialogue.lines, strict=True):
        assert dialogue.vocabulary.decode(line) == split_words(text)


def test_splitting():
    assert split_words("Great. My base-ball team, won!  OK?") == ["great", "my", "baseball", "team", "won", "ok"]


def test_special_tokens_come_first_and_words_are_sorted():
    vocabulary = load_dialogue(9).vocabulary
    assert tuple(vocabulary.tokens[:4]) == SPECIAL_TOKENS == ("[PAD]", "[CLS]", "[SEP]", "[MASK]")
    assert (vocabulary.pad_id, vocabulary.cls_id, vocabulary.sep_id, vocabulary.mask_id) == (0, 1, 2, 3)
    words = vocabulary.decode(vocabulary.word_ids)
    assert words == sorted(set(words))
    assert len(words) == len(vocabulary) - 4


def test_an_unknown_word_is_named():
    with pytest.raises(ValueError, match="not in the vocabulary of 5 tokens: 'mercutio', 'tybalt'"):
        Vocabulary(["romeo"]).encode(["romeo", "mercutio", "tybalt"])


def test_a_special_token_is_no_word():
    with pytest.raises(ValueError, match=r"special tokens cannot be words: \[MASK\]"):
        Vocabulary(["romeo", "[MASK]"])


def test_an_unknown_dialogue():
    with pytest.raises(ValueError, match="no dialogue of 7 lines, wanted 6 or 9"):
        load_dialogue(7)


def test_ids_do_not_depend_on_the_hash_seed():
    code = "from npbert.data import load_dialogue; print(load_dialogue(9).lines)"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert outputs == {f"{load_dialogue(9).lines}\n"}
