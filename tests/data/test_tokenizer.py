"""Tokenizer: text to tokens and back, with a vocabulary written by hand."""

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, strategies as st

from npbert import Tokenizer

pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install -e '.[hf]'")

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] the The cat sat un ##aff ##able cafe café 中 国 ##国 . ##s"


def tokenizer_in(folder, vocabulary=VOCABULARY, **settings):
    (folder / "vocab.txt").write_text("\n".join(vocabulary.split()) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return Tokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return tokenizer_in(tmp_path_factory.mktemp("tokenizer"))


def tokens_of(encoding):
    return " ".join(encoding.tokens)


def test_a_text(tokenizer):
    (encoding,) = tokenizer.encode(["The unaffable\tcats,\n[MASK]ed? "])
    assert tokens_of(encoding) == "[CLS] the un ##aff ##able cat ##s [UNK] [MASK] [UNK] [UNK] [SEP]"
    assert encoding.ids == [VOCABULARY.split().index(token) for token in encoding.tokens]
    assert encoding.word_ids == [None, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, None]
    assert tokenizer.pieces(["The unaffable", ""]) == [encoding.ids[1:5], []]


def test_a_pair_and_words_that_are_cut_already(tokenizer):
    (encoding,) = tokenizer.encode([["the cat", "sat."]])
    assert tokens_of(encoding) == "[CLS] the cat [SEP] sat . [SEP]"
    assert encoding.sequence_ids == [None, 0, 0, None, 1, 1, None]
    (cut,) = tokenizer.encode([["unaffable", "cats."]], max_length=7, is_pretokenized=True)
    assert tokens_of(cut) == "[CLS] un ##aff ##able cat ##s [SEP]"
    assert cut.word_ids == [None, 0, 0, 0, 1, 1, None]


def test_special_tokens_wherever_they_are(tmp_path):
    tokenizer = tokenizer_in(tmp_path, "a [SEP] [MASK] b [PAD] [UNK] [CLS] ##c")
    ids = [tokenizer.pad_id, tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id]
    assert ids == [4, 5, 6, 1, 2]
    assert tokenizer.word_ids.tolist() == [0, 3, 7]
    assert np.flatnonzero(tokenizer.continues).tolist() == [7]


def test_each_call_has_a_length_of_its_own(tokenizer):
    """And of a pair, the longer text is cut first."""
    pairs = {("the cat", "sat the cat sat the"): "the [SEP] sat the", ("the the the the", "cat"): "the the [SEP] cat"}
    for encoding, kept in zip(tokenizer.encode(list(pairs), max_length=6), pairs.values(), strict=True):
        assert tokens_of(encoding) == f"[CLS] {kept} [SEP]"
    fits, cut = tokenizer.encode(["the cat sat", "the cat sat ."], max_length=5)
    assert not fits.overflowing
    assert list(map(tokens_of, [cut, *cut.overflowing])) == ["[CLS] the cat sat [SEP]", "[CLS] . [SEP]"]


def test_threads_that_share_a_tokenizer_have_lengths_of_their_own(tokenizer):
    """A length that was kept in the object would be the one of the other thread, now and then."""
    text, interval = "the cat sat . the cat sat . the cat", sys.getswitchinterval()

    def use(size):
        sizes = set()
        for _ in range(100):
            first, *_ = tokenizer.encode_windows("the", text, max_length=size + 3, stride=1)
            (encoding,), (pieces,) = tokenizer.encode([text], max_length=size), tokenizer.pieces([text])
            sizes.add((len(encoding.ids), len(first.ids), len(pieces)))
        return sizes

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(use, range(5, 9))) == [{(size, size + 3, 10)} for size in range(5, 9)]
    finally:
        sys.setswitchinterval(interval)


words = st.sampled_from(["the", "cat", "cats", "sat", "unaffable", ".", "dog"])


@given(st.lists(words, max_size=3), st.lists(words, min_size=1, max_size=30), st.integers(0, 4), st.integers(1, 6))
def test_windows_cover_the_passage(tokenizer, question, passage, stride, step):
    """Each takes up `stride` tokens of the one before, and all but the last are full."""
    question, passage = " ".join(question), " ".join(passage)
    asked, told = tokenizer.pieces([question, passage])
    max_length, first = len(asked) + 3 + stride + step, len(asked) + 2
    windows = tokenizer.encode_windows(question, passage, max_length=max_length, stride=stride)
    covered = told[:stride]
    for window in windows:
        part = window.ids[first:-1]
        assert window.ids == [tokenizer.cls_id, *asked, tokenizer.sep_id, *part, tokenizer.sep_id]
        assert len(window.ids) == max_length or (window is windows[-1] and len(window.ids) < max_length)
        assert part[:stride] == covered[max(0, len(covered) - stride) :]
        covered += part[stride:]
    assert covered == told


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        *[
            (lambda t, text=text: t.encode(["fine", text]), TypeError, f"a text is {text!r}, wanted a string or a pair")
            for text in (None, ("a", "b", "c"), ("a", 5))
        ],
        (lambda t: t.encode("the cat"), TypeError, "texts is one string, wanted a list of them: ['the cat']"),
        (lambda t: t.encode(["the \udcff cat"]), ValueError, r"'the \udcff cat' has half of a character"),
        (lambda t: t.encode(["cat"], max_length=-1), ValueError, "max_length is -1, wanted at least 5"),
        (
            lambda t: t.encode_windows("the cat sat", "the cat", max_length=8, stride=2),
            ValueError,
            "leaves room for 2 tokens of the passage, wanted more than stride 2",
        ),
    ],
)
def test_errors(tokenizer, ask, error, message):
    with pytest.raises(error, match=re.escape(message)):
        ask(tokenizer)
