"""Tokenizer: out of files and into them, and learned from text."""

import json
import re
import sys

import numpy as np
import pytest

from npbert import Tokenizer
from npbert.extras import MissingExtraError
from npbert.files import FileError

tokenizers = pytest.importorskip("tokenizers", reason="pip install 'npbert[hf]'")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "Café", "cafe"]
TEXT = "The Café sat.\nthe cat\n"


def write(folder, *, words=WORDS, end="\n", settings=None):
    (folder / "vocab.txt").write_bytes(end.join([*words, ""]).encode())
    if settings is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def all_tokens(tokenizer):
    return tokenizer.decode(range(len(tokenizer)))


@pytest.mark.parametrize("vocabulary", ["\n".join(WORDS), "\n".join(WORDS) + "\n", "\r\n".join(WORDS) + "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_ends_of_lines_and_byte_order_mark(tmp_path, vocabulary, mark):
    (tmp_path / "vocab.txt").write_bytes((mark + vocabulary).encode())
    assert all_tokens(Tokenizer.from_pretrained(tmp_path)) == WORDS


def test_an_empty_line_is_a_token_and_counts(tmp_path):
    tokenizer = Tokenizer.from_pretrained(write(tmp_path, words=[*WORDS[:5], "", "cat"]))
    assert tokenizer.encode(["cat"])[0].ids == [2, 6, 3]


def test_tokenizer_json_comes_first_without_its_truncation_and_padding(tmp_path):
    library = tokenizers.BertWordPieceTokenizer({word: index for index, word in enumerate(WORDS)}, lowercase=False)
    library.enable_truncation(5)
    library.enable_padding(length=9)
    library.save(str(tmp_path / "tokenizer.json"))
    write(tmp_path, words=[*WORDS[:5], "cat"], settings={"do_lower_case": True})
    tokenizer = Tokenizer.from_pretrained(tmp_path)
    assert len(tokenizer) == len(WORDS)
    tokens = [encoding.tokens for encoding in tokenizer.encode(["Café cat cat cat cat", "cat"])]
    assert tokens == [["[CLS]", "Café", "cat", "cat", "cat", "cat", "[SEP]"], ["[CLS]", "cat", "[SEP]"]]


def test_no_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape(f"{tmp_path} has no tokenizer.json and no vocab.txt")):
        Tokenizer.from_pretrained(tmp_path)


LACKING_SEP = "\n".join(word for word in WORDS if word != "[SEP]")
LACKING_MASK = "\n".join(word for word in WORDS if word != "[MASK]")
BPE = tokenizers.Tokenizer(tokenizers.models.BPE()).to_str()
BARE = tokenizers.Tokenizer(tokenizers.models.WordPiece({"a": 0}, unk_token="a")).to_str()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("vocab.txt", b"[PAD]\n[UNK]\nca\xff\n", ", line 3: byte 14 (0xff) is not UTF-8"),
        ("vocab.txt", b"[PAD]\ncat\ndog\ncat\n", " is no tokenizer of BERT: 'cat' is in it twice"),
        ("vocab.txt", b"", " is no tokenizer of BERT: sep_token not found in the vocabulary"),
        ("vocab.txt", LACKING_SEP.encode(), " is no tokenizer of BERT: sep_token not found in the vocabulary"),
        ("vocab.txt", LACKING_MASK.encode(), " is no tokenizer of BERT: the vocabulary has no [MASK]"),
        ("tokenizer.json", BPE.encode(), " is no tokenizer of BERT: its model is BPE, wanted WordPiece"),
        ("tokenizer.json", BARE.encode(), " is no tokenizer of BERT: the vocabulary has no [PAD]"),
        ("tokenizer.json", b'{"version": ', " is no tokenizer of BERT: EOF while parsing"),
        ("tokenizer.json", b"{}", " is no tokenizer of BERT: "),
        ("tokenizer.json", b'{"\xe9": 1}', ", line 1: byte 2 (0xe9) is not UTF-8"),
        ("tokenizer_config.json", b"{,}", ", line 1: no valid JSON: Expecting property name"),
        ("tokenizer_config.json", b"[]", " holds a JSON list, wanted an object"),
        ("tokenizer_config.json", b'{"do_lower_case": "no"}', ": do_lower_case is 'no', wanted true or false"),
        ("tokenizer_config.json", b'{"tokenize_chinese_chars": null}', ": tokenize_chinese_chars is None, wanted"),
    ],
)
def test_a_bad_file_is_named(tmp_path, name, content, message):
    write(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match="^" + re.escape(f"{tmp_path / name}{message}")):
        Tokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    "settings", [{}, {"do_lower_case": False}, {"strip_accents": False, "tokenize_chinese_chars": False}]
)
@pytest.mark.parametrize("left", ["tokenizer.json", "vocab.txt"])
def test_saved_and_read_again(tmp_path, settings, left):
    """Either file alone holds all of it."""
    before = Tokenizer.from_pretrained(write(tmp_path, settings=settings))
    before.encode(["the cat"], max_length=5)
    folder = tmp_path / "new" / "folder"
    before.save_pretrained(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["tokenizer.json", "tokenizer_config.json", "vocab.txt"]
    (folder / ({"tokenizer.json", "vocab.txt"} - {left}).pop()).unlink()
    after = Tokenizer.from_pretrained(folder)
    assert all_tokens(after) == WORDS
    texts = ["The Café 中国 [MASK]", ("cat", "the CAT")]
    for one, other in zip(before.encode(texts), after.encode(texts), strict=True):
        assert (one.tokens, one.type_ids) == (other.tokens, other.type_ids)


def test_saved_without_the_length_of_the_last_call(tmp_path):
    tokenizer = Tokenizer.from_pretrained(write(tmp_path))
    tokenizer.encode(["the cat"], max_length=5)
    tokenizer.save_pretrained(tmp_path)
    stored = json.loads((tmp_path / "tokenizer.json").read_text())
    assert (stored["truncation"], stored["padding"]) == (None, None)


def test_a_normalizer_of_another_kind_can_be_saved(tmp_path):
    library = tokenizers.BertWordPieceTokenizer({word: index for index, word in enumerate(WORDS)})
    library._tokenizer.normalizer = tokenizers.normalizers.Sequence([tokenizers.normalizers.NFC()])
    Tokenizer(library).save_pretrained(tmp_path)
    assert Tokenizer.from_pretrained(tmp_path).encode(["Café"])[0].tokens == ["[CLS]", "Café", "[SEP]"]
    assert json.loads((tmp_path / "tokenizer_config.json").read_text()) == {"tokenizer_class": "BertTokenizer"}


def text_file(folder, text, name="text.txt"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_learned_twice_the_same(tmp_path):
    """Pairs of letters that are equally frequent are what the library's order of a hash table decides."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(400)]
    file = text_file(tmp_path, " ".join(words * 2))
    learned = [all_tokens(Tokenizer.train([file], vocab_size=200)) for _ in range(4)]
    assert learned[0][:5] == WORDS[:5]
    assert len(learned[0]) == 200
    assert learned[1:] == learned[:1] * 3


def test_learned_words(tmp_path):
    file = text_file(tmp_path, "the cat sat on the mat\n" * 9 + "once\n")
    tokenizer = Tokenizer.train([file], vocab_size=100)
    assert tokenizer.encode(["The cat once"])[0].tokens[1:-1] == ["the", "cat", "on", "##c", "##e"]
    assert len(tokenizer) < 100, "there is no more to learn"
    assert "once" in all_tokens(Tokenizer.train([file], vocab_size=100, min_frequency=1))
    both = Tokenizer.train([file, text_file(tmp_path, "dog dog dog\n", "dog.txt")], vocab_size=100)
    assert {"cat", "dog"} <= set(all_tokens(both))


def test_learned_lower_case_or_cased(tmp_path):
    file = text_file(tmp_path, "Café café\n" * 9)
    lower, cased = (Tokenizer.train([file], vocab_size=40, lowercase=lowercase) for lowercase in (True, False))
    assert "cafe" in all_tokens(lower)
    assert {"Café", "café"} <= set(all_tokens(cased))
    assert cased.encode(["Café"])[0].tokens == ["[CLS]", "Café", "[SEP]"]
    assert lower.encode(["Café"])[0].tokens == ["[CLS]", "cafe", "[SEP]"]


def test_the_most_frequent_characters_are_learned(tmp_path, monkeypatch):
    monkeypatch.setattr("npbert.data.learn_vocabulary.MOST_CHARACTERS", 3)
    tokenizer = Tokenizer.train(
        [text_file(tmp_path, "zz kk jj ii hh gg ff ee dd cc bb zz")], vocab_size=40, min_frequency=9
    )
    assert all_tokens(tokenizer)[5:] == ["b", "c", "z", "##b", "##c", "##z"], "of equals the first"


def test_a_size_with_no_room_for_the_characters(tmp_path):
    file = text_file(tmp_path, "ab ab ba")  # a, b, ##a, ##b
    assert len(Tokenizer.train([file], vocab_size=9)) == 9
    for size in (8, 5, 0, -1):
        with pytest.raises(ValueError, match=f"vocab_size is {size}, wanted at least 9: 5 special tokens"):
            Tokenizer.train([file], vocab_size=size)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", " is empty: there is nothing to learn from"),
        (b" \n\n", " is empty: there is nothing to learn from"),
        (b"cat\n\xe9t\xe9", ", line 2: byte 4 (0xe9) is not UTF-8"),
    ],
)
def test_a_bad_text_is_named(tmp_path, content, message):
    good, bad = text_file(tmp_path, TEXT), tmp_path / "bad.txt"
    bad.write_bytes(content)
    with pytest.raises(FileError, match="^" + re.escape(f"{bad}{message}")):
        Tokenizer.train([good, bad], vocab_size=50)


def test_without_the_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    message = re.escape(
        "this needs the package tokenizers, which is not installed: in npbert's folder, pip install '.[hf]'"
    )
    with pytest.raises(MissingExtraError, match=message):
        Tokenizer.from_pretrained(write(tmp_path))
    with pytest.raises(MissingExtraError, match=message):
        Tokenizer.train([text_file(tmp_path, TEXT)])
