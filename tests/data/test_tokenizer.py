"""Tokenizer: text to tokens and back, with a vocabulary written by hand."""

import json
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from npbert import Tokenizer

pytest.importorskip("tokenizers", reason="tokenizers is not installed: in npbert's folder, pip install '.[hf]'")

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] the The cat sat un ##aff ##able cafe café 中 国 ##国 . ##s"
WORDS = VOCABULARY.split()
ID = {word: index for index, word in enumerate(WORDS)}


def tokenizer_in(folder, **settings):
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    if settings:
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return Tokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return tokenizer_in(tmp_path_factory.mktemp("tokenizer"))


def ids(*tokens):
    return [ID[token] for token in tokens]


def test_a_text(tokenizer):
    (encoding,) = tokenizer.encode(["The unaffable\tcats,\n[MASK]ed? "])
    pieces = ["[CLS]", "the", "un", "##aff", "##able", "cat", "##s", "[UNK]", "[MASK]", "[UNK]", "[UNK]", "[SEP]"]
    assert encoding.tokens == pieces
    assert encoding.ids == ids(*pieces)
    assert encoding.word_ids == [None, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, None]
    assert encoding.type_ids == [0] * 12
    assert encoding.attention_mask == [1] * 12


def test_a_pair(tokenizer):
    (encoding,) = tokenizer.encode([("the cat", "sat.")])
    assert encoding.tokens == ["[CLS]", "the", "cat", "[SEP]", "sat", ".", "[SEP]"]
    assert encoding.type_ids == [0, 0, 0, 0, 1, 1, 1]
    assert encoding.sequence_ids == [None, 0, 0, None, 1, 1, None]
    assert tokenizer.encode([["the cat", "sat."]])[0].ids == encoding.ids


def test_special_tokens(tokenizer):
    assert len(tokenizer) == 19
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id) == (
        0,
        1,
        2,
        3,
        4,
    )
    np.testing.assert_array_equal(tokenizer.word_ids, range(5, 19))


def test_special_tokens_in_other_places(tmp_path):
    words = ["a", "[SEP]", "[MASK]", "b", "[PAD]", "[UNK]", "[CLS]"]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    tokenizer = Tokenizer.from_pretrained(tmp_path)
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id) == (
        4,
        5,
        6,
        1,
        2,
    )
    np.testing.assert_array_equal(tokenizer.word_ids, [0, 3])
    batch = tokenizer.batch(tokenizer.encode(["a", "a b"]))
    np.testing.assert_array_equal(batch.input_ids, [[6, 0, 1, 4], [6, 0, 3, 1]])


@given(st.text("thecasunfbl .[MASK]\n"))
def test_offsets_map_back_to_the_text(tokenizer, text):
    (encoding,) = tokenizer.encode([text])
    end = 0
    for token, (start, stop) in list(zip(encoding.tokens, encoding.offsets, strict=True))[1:-1]:
        assert end <= start < stop
        assert not text[end:start].strip(), "only spaces are left out"
        if token != "[UNK]":
            assert text[start:stop].lower() == token.lower().removeprefix("##")
        end = stop
    assert not text[end:].strip()


def test_offsets_count_characters_of_the_text_as_it_was(tokenizer):
    (encoding,) = tokenizer.encode(["CAFÉ 中国 \x00unaffable"])
    assert encoding.tokens[1:-1] == ["cafe", "中", "国", "un", "##aff", "##able"]
    assert encoding.offsets[1:-1] == [(0, 4), (5, 6), (6, 7), (9, 11), (11, 14), (14, 18)]


def test_decode(tokenizer):
    assert tokenizer.decode([2, 9, 10, 3]) == ["[CLS]", "un", "##aff", "[SEP]"]
    assert tokenizer.decode(np.array([4], np.int32)) == ["[MASK]"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("the cat sat the cat", "[CLS] the cat sat the [SEP]"),
        (("the cat", "sat the cat sat the"), "[CLS] the [SEP] sat the [SEP]"),
        (("sat the cat sat the", "the cat"), "[CLS] sat the [SEP] the [SEP]"),
        (("the", "sat the cat"), "[CLS] the [SEP] sat the [SEP]"),
        (("the the the the", "cat"), "[CLS] the the [SEP] cat [SEP]"),
    ],
)
def test_the_longer_text_is_cut_first(tokenizer, text, kept):
    (encoding,) = tokenizer.encode([text], max_length=6)
    assert sorted(encoding.tokens) == sorted(kept.split())
    assert len(encoding.ids) == 6
    assert encoding.overflowing


def test_what_is_cut_off_is_in_overflowing(tokenizer):
    short, long = tokenizer.encode(["the cat sat", "the cat sat ."], max_length=5)
    assert not short.overflowing
    assert long.tokens == ["[CLS]", "the", "cat", "sat", "[SEP]"]
    assert [part.tokens for part in long.overflowing] == [["[CLS]", ".", "[SEP]"]]


def test_each_call_has_its_own_length(tokenizer):
    text = "the cat sat . the cat"
    assert len(tokenizer.encode([text], max_length=5)[0].ids) == 5
    assert len(tokenizer.encode([text])[0].ids) == 8
    assert len(tokenizer.encode([text], max_length=7)[0].ids) == 7


def test_batch(tokenizer):
    batch = tokenizer.batch(tokenizer.encode([("the", "cat sat"), "cat", ""]))
    rows = ["[CLS] the [SEP] cat sat [SEP]", "[CLS] cat [SEP] [PAD] [PAD] [PAD]", "[CLS] [SEP]" + " [PAD]" * 4]
    np.testing.assert_array_equal(batch.input_ids, [ids(*row.split()) for row in rows])
    np.testing.assert_array_equal(batch.token_type_ids, [[0, 0, 0, 1, 1, 1], [0] * 6, [0] * 6])
    np.testing.assert_array_equal(batch.attention_mask, [[1] * 6, [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]])
    assert batch.labels is None


@pytest.mark.parametrize(
    ("settings", "tokens"),
    [
        ({}, ["the", "cafe", "中", "国"]),
        ({"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True}, ["the", "cafe", "中", "国"]),
        ({"do_lower_case": False}, ["The", "café", "中", "国"]),
        ({"strip_accents": False}, ["the", "café", "中", "国"]),
        ({"do_lower_case": False, "strip_accents": True}, ["The", "cafe", "中", "国"]),
        ({"tokenize_chinese_chars": False}, ["the", "cafe", "中", "##国"]),
    ],
)
def test_settings(tmp_path, settings, tokens):
    assert tokenizer_in(tmp_path, **settings).encode(["The café 中国"])[0].tokens[1:-1] == tokens


words = st.sampled_from(["the", "cat", "cats", "sat", "unaffable", ".", "dog"])


@given(st.lists(words, max_size=3), st.lists(words, min_size=1, max_size=30), st.integers(0, 4), st.integers(1, 6))
@example(["unaffable"] * 3, ["the"] * 5, 1, 1)
def test_windows_cover_the_passage(tokenizer, question, passage, stride, step):
    """Each takes up `stride` tokens of the one before, and all but the last are full."""
    question, passage = " ".join(question), " ".join(passage)
    asked, told = (tokenizer.encode([text])[0].ids[1:-1] for text in (question, passage))
    max_length = len(asked) + 3 + stride + step
    windows = tokenizer.encode_windows(question, passage, max_length=max_length, stride=stride)
    covered = told[:stride]
    for number, window in enumerate(windows):
        first = len(asked) + 2
        assert window.ids[:first] == [tokenizer.cls_id, *asked, tokenizer.sep_id]
        part = window.ids[first:-1]
        assert window.ids[-1] == tokenizer.sep_id
        assert window.type_ids == [0] * first + [1] * (len(part) + 1)
        assert number == len(windows) - 1 or len(window.ids) == max_length
        assert len(window.ids) <= max_length
        assert part[:stride] == covered[max(0, len(covered) - stride) :]
        covered += part[stride:]
    assert covered == told


def test_offsets_of_windows_are_those_of_the_passage(tokenizer):
    passage = "the cat sat . the unaffable cat"
    for window in tokenizer.encode_windows("sat", passage, max_length=8, stride=2):
        for token, (start, stop) in zip(window.tokens[3:-1], window.offsets[3:-1], strict=True):
            assert passage[start:stop] == token.removeprefix("##")


def test_a_question_that_leaves_no_room(tokenizer):
    with pytest.raises(ValueError, match="leaves room for 2 tokens of the passage, wanted more than 2"):
        tokenizer.encode_windows("the cat sat", "the cat", max_length=8, stride=2)
    assert tokenizer.encode_windows("the cat sat", "the cat", max_length=9, stride=2)


@pytest.mark.parametrize("text", [None, 5, b"cat", ("a", "b", "c"), ("a",), ("a", 5), [["a"], ["b"]], ()])
def test_what_is_no_text(tokenizer, text):
    with pytest.raises(TypeError, match=re.escape(f"text 1 is {text!r}, wanted a string or a pair of strings")):
        tokenizer.encode(["fine", text])


@pytest.mark.parametrize("max_length", [4, 0, -1])
def test_no_room_for_a_token_of_each_text(tokenizer, max_length):
    with pytest.raises(ValueError, match=f"max_length is {max_length}, wanted at least 5"):
        tokenizer.encode([("the cat", "sat")], max_length=max_length)
    assert tokenizer.encode([("the cat", "sat")], max_length=5)[0].tokens == ["[CLS]", "the", "[SEP]", "sat", "[SEP]"]


def test_no_texts(tokenizer):
    assert tokenizer.encode([]) == []
