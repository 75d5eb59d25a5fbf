"""The dialogues and their vocabulary."""

import pytest

from npbert.data import SPECIAL_TOKENS, Vocabulary, load_dialogue, split_words


@pytest.mark.parametrize(("num_lines", "vocab_size"), [(6, 29), (9, 40)])
def test_a_dialogue_and_its_words(num_lines, vocab_size):
    """Words are sorted, so their ids are the same in every process, whatever its hash seed."""
    assert split_words("Great. My base-ball team, won!  OK?") == ["great", "my", "baseball", "team", "won", "ok"]
    dialogue = load_dialogue(num_lines)
    vocabulary = dialogue.vocabulary
    assert len(dialogue.text) == len(dialogue.lines) == num_lines
    assert len(vocabulary) == vocab_size
    for text, line in zip(dialogue.text, dialogue.lines, strict=True):
        assert vocabulary.decode(line) == split_words(text)
    words = vocabulary.decode(vocabulary.word_ids)
    assert words == sorted(set(words)) == sorted({word for text in dialogue.text for word in split_words(text)})


def test_special_tokens_come_first_and_are_no_words():
    vocabulary = Vocabulary(["b", "a", "b"])
    assert vocabulary.tokens == [*SPECIAL_TOKENS, "a", "b"] == ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]
    assert (vocabulary.pad_id, vocabulary.cls_id, vocabulary.sep_id, vocabulary.mask_id) == (0, 1, 2, 3)
    assert vocabulary.word_ids.tolist() == [4, 5]
    assert vocabulary.is_word.tolist() == [False] * 4 + [True] * 2
    assert [*vocabulary.continues, vocabulary.continues.dtype] == [False] * 6 + [bool]
    assert vocabulary.encode(iter("ab")) == [4, 5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Vocabulary(["a"]).encode("amt"), "not in the vocabulary of 5 tokens: 'm', 't'"),
        (lambda: Vocabulary(["a", "[SEP]", "[MASK]"]), r"special tokens cannot be words: \[MASK\], \[SEP\]"),
        (lambda: load_dialogue(7), "there is no dialogue of 7 lines, wanted 6 or 9"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        call()
