"""A vocabulary learned from awkward text: in bounded time, and with one clear error for what cannot be."""

import numpy as np
import pytest

from npbert import Tokenizer
from npbert.data import SPECIAL
from npbert.data.tokenizer import LONGEST_WORD

pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")

SENTENCES = "the cat sat on the mat\na dog ran on the road\n" * 3


def learn(folder, text, **options):
    path = folder / "text.txt"
    path.write_text(text, encoding="utf-8")
    return Tokenizer.train([path], **{"vocab_size": 60, **options})


def tokens(tokenizer):
    return tokenizer.decode(range(len(tokenizer)))


@pytest.mark.parametrize("character", ["z", "é", "1"])
def test_words_too_long_for_wordpiece_are_passed_over(tmp_path, character):
    """They would be [UNK] anyway, and a word of 200,000 characters took minutes."""
    learned = learn(tmp_path, SENTENCES + character * 20_000 + "\n" + "yy" * (LONGEST_WORD // 2))
    assert any(set(token) == {"#", "y"} for token in tokens(learned)), "a word just short enough"
    assert all(character not in token for token in tokens(learned))


def test_learned_twice_the_same(tmp_path):
    """Pairs of letters that are equally frequent are what the library's order of a hash table decides."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(400)]
    learned = [tokens(learn(tmp_path, " ".join(words * 2), vocab_size=200)) for _ in range(4)]
    assert learned[0][:5] == list(SPECIAL.values())
    assert len(learned[0]) == 200
    assert learned[1:] == learned[:1] * 3


def test_a_word_is_read_in_its_case_only_if_it_was_learned_in_it(tmp_path):
    """(What is learned of files, and the options: tests/cli/test_vocab.py.)"""
    for lowercase, wanted in ((True, "the"), (False, "[UNK]")):
        assert learn(tmp_path, SENTENCES, lowercase=lowercase).encode(["The"])[0].tokens[1] == wanted


def test_the_most_frequent_characters_are_learned_and_there_must_be_room_for_them(tmp_path, monkeypatch):
    monkeypatch.setattr("npbert.data.tokenizer.MOST_CHARACTERS", 3)
    text = "zz kk jj ii hh gg ff ee dd cc bb zz"
    learned = tokens(learn(tmp_path, text, vocab_size=11, min_frequency=9))
    assert learned[5:] == ["j", "k", "z", "##j", "##k", "##z"], "of equals the first"
    for size, wanted in ((10, "at least 11: 5 special"), (10**30, "a number from 1 to 2147483647")):
        with pytest.raises(ValueError, match=f"vocab_size is {size}, wanted {wanted}"):
            learn(tmp_path, text, vocab_size=size)
