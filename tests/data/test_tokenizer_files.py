"""Tokenizer: out of files and into them, and learned from text."""

import base64
import json
import re
import sys

import pytest

from npbert import Tokenizer
from npbert.io.extras import MissingExtraError
from npbert.io.files import FileError
from tests.small_tokenizer import small_tokenizer

tokenizers = pytest.importorskip("tokenizers", reason="pip install -e '.[hf]'")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "Café", "cafe"]


def write(path, text):
    path.write_bytes(text.encode())
    return path


def all_tokens(tokenizer):
    return tokenizer.decode(range(len(tokenizer)))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_ends_of_lines_and_byte_order_mark(tmp_path, end, mark):
    """An empty line is a token, too, but for one at the end."""
    for text in (end.join([*WORDS, "", "x"]), end.join([*WORDS, "", "x", ""])):
        write(tmp_path / "vocab.txt", mark + text)
        assert all_tokens(Tokenizer.from_pretrained(tmp_path)) == [*WORDS, "", "x"]


def test_tokenizer_json_has_the_tokens_and_the_configuration_the_rules(tmp_path):
    """And its truncation and padding are left to each call, but for the side that is cut."""
    library = tokenizers.BertWordPieceTokenizer(VOCAB, lowercase=False)
    library._tokenizer.enable_truncation(5, direction="left")
    library.enable_padding(length=9)
    library.save(str(tmp_path / "tokenizer.json"))
    write(tmp_path / "vocab.txt", "\n".join([*WORDS[:5], "cat"]))
    write(tmp_path / "tokenizer_config.json", '{"do_lower_case": true}')
    tokenizer = Tokenizer.from_pretrained(tmp_path)
    texts = ["Café the the the cat", "cat"]
    tokens = [encoding.tokens for encoding in tokenizer.encode(texts)]
    assert tokens == [["[CLS]", "cafe", "the", "the", "the", "cat", "[SEP]"], ["[CLS]", "cat", "[SEP]"]]
    assert tokenizer.encode(texts, max_length=5)[0].tokens == ["[CLS]", "the", "the", "cat", "[SEP]"]
    tokenizer.save_pretrained(tmp_path)
    assert Tokenizer.from_pretrained(tmp_path).truncation_side == "left"


def test_special_and_added_tokens_of_other_names(tmp_path):
    """(All settings, beside transformers: tests/parity/test_tokenizer_folders.py.)"""
    write(tmp_path / "vocab.txt", "\n".join(["<s>", "</s>", *WORDS]))
    named = {
        "cls_token": "<s>",
        "sep_token": {"content": "</s>", "lstrip": False},
        "additional_special_tokens": ["<a>"],
    }
    write(tmp_path / "special_tokens_map.json", json.dumps(named))
    write(tmp_path / "added_tokens.json", '{"two words": 11}')
    tokenizer = Tokenizer.from_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path / "new")
    for each in (tokenizer, Tokenizer.from_pretrained(tmp_path / "new")):
        tokens = each.encode(["the two words <a>"])[0].tokens
        assert tokens == ["<s>", "the", "two words", "<a>", "</s>"]
        assert (each.cls_id, each.sep_id, len(each)) == (0, 1, len(WORDS) + 4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"padding_side": "left"}, "padding_side is 'left', wanted 'right'"),
        ({"truncation_side": "up"}, "truncation_side is 'up', wanted 'right' or 'left'"),
        ({"tokenizer_class": "T5Tokenizer"}, "tokenizer_class is 'T5Tokenizer', wanted Bert"),
        (
            {"tokenizer_class": "TokenizersBackend"},
            "its tokenizer_class needs a tokenizer.json",
        ),
        ({"cls_token": None}, "cls_token is None, wanted a token of the vocabulary"),
    ],
)
def test_a_setting_that_is_not_honored_is_named(tmp_path, settings, message):
    write(tmp_path / "vocab.txt", "\n".join(WORDS))
    write(tmp_path / "tokenizer_config.json", json.dumps(settings))
    with pytest.raises(FileError, match=re.escape(message)):
        Tokenizer.from_pretrained(tmp_path)


LACKING_SEP, LACKING_MASK = ("\n".join(WORDS).replace(token, "new") for token in ("[SEP]", "[MASK]"))
BPE = tokenizers.Tokenizer(tokenizers.models.BPE()).to_str()
VOCAB = {word: index for index, word in enumerate(WORDS)}
WHOLE = json.loads(tokenizers.BertWordPieceTokenizer(VOCAB).to_str())
MODEL = WHOLE["model"]
BARE = tokenizers.Tokenizer(tokenizers.models.WordPiece({"a": 0}, unk_token="a")).to_str()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("vocab.txt", b"[PAD]\n[UNK]\nca\xff\n", ", line 3: byte 14 (0xff) is not UTF-8"),
        ("vocab.txt", "\n".join([*WORDS, "cat"]).encode(), " is not a BERT tokenizer: 'Café' has the id 7, wanted 6"),
        ("vocab.txt", LACKING_SEP.encode(), " is not a BERT tokenizer: the vocabulary has no [SEP]"),
        ("vocab.txt", LACKING_MASK.encode(), " is not a BERT tokenizer: the vocabulary has no [MASK]"),
        ("tokenizer.json", BPE.encode(), " is not a BERT tokenizer: its model is BPE, wanted WordPiece"),
        ("tokenizer.json", BARE.encode(), " is not a BERT tokenizer: the vocabulary has no [PAD]"),
        ("tokenizer.json", b'{"version": ', ", line 1: not valid JSON: Expecting value"),
        ("tokenizer_config.json", b"{,}", ", line 1: not valid JSON: Expecting property name"),
        (
            "tokenizer_config.json",
            b'{"do_lower_case": "no"}',
            ": do_lower_case is 'no', wanted True or False",
        ),
        (
            "tokenizer_config.json",
            b'{"tokenize_chinese_chars": null}',
            ": tokenize_chinese_chars is None, wanted",
        ),
        *[
            ("tokenizer_config.json", b'{"model_max_length": %s}' % value, f": model_max_length is {read}, wanted")
            for value, read in [(b"0", 0), (b"12.5", 12.5), (b'"128"', "'128'"), (b"true", True)]
        ],
    ],
)
def test_a_bad_file_is_named(tmp_path, name, content, message):
    write(tmp_path / "vocab.txt", "\n".join(WORDS))
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match="^" + re.escape(f"{tmp_path / name}{message}")):
        Tokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize("settings", ["{}", '{"do_lower_case": false}', '{"tokenize_chinese_chars": false}'])
@pytest.mark.parametrize("removed", ["tokenizer.json", "vocab.txt"])
def test_saved_and_read_again(tmp_path, settings, removed):
    """Either file alone holds all of it, and the length of the last call is in neither."""
    write(tmp_path / "vocab.txt", "\n".join(WORDS))
    write(tmp_path / "tokenizer_config.json", settings)
    before, folder = Tokenizer.from_pretrained(tmp_path), tmp_path / "new" / "folder"
    before.encode(["the cat"], max_length=5)
    before.save_pretrained(str(folder))
    stored = json.loads((folder / "tokenizer.json").read_text())
    assert stored["truncation"] is stored["padding"] is None
    assert sorted(path.name for path in folder.iterdir()) == ["tokenizer.json", "tokenizer_config.json", "vocab.txt"]
    (folder / removed).unlink()
    after = Tokenizer.from_pretrained(folder)
    assert all_tokens(after) == WORDS
    texts = ["The Café 中国 [MASK]", ("cat", "the CAT")]
    one, other = ([(each.tokens, each.type_ids) for each in read.encode(texts)] for read in (before, after))
    assert one == other


@pytest.mark.parametrize(
    ("stored", "read"),
    [(None, None), (1, 1), (128, 128), (1_000_000, 1_000_000), (1_000_001, None), (10**30, None), (1e30, None)],
)
@pytest.mark.parametrize("removed", ["tokenizer.json", "vocab.txt"])
def test_the_length_of_a_text_is_read_and_written(tmp_path, stored, read, removed):
    """transformers writes 10³⁰ for none; npbert writes nothing then."""
    write(tmp_path / "vocab.txt", "\n".join(WORDS))
    Tokenizer.from_pretrained(tmp_path).save_pretrained(tmp_path)
    assert "model_max_length" not in json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / removed).unlink()
    write(tmp_path / "tokenizer_config.json", json.dumps({"model_max_length": stored}))
    tokenizer = Tokenizer.from_pretrained(tmp_path)
    assert tokenizer.max_length == read
    assert len(tokenizer.encode(["cat " * 200])[0].ids) == 202, "whoever uses a model cuts to it"
    tokenizer.save_pretrained(tmp_path / "new")
    assert json.loads((tmp_path / "new" / "tokenizer_config.json").read_text()).get("model_max_length") == read


def test_a_normalizer_of_another_kind_can_be_saved(tmp_path):
    library = tokenizers.BertWordPieceTokenizer(VOCAB)
    library._tokenizer.normalizer = tokenizers.normalizers.NFC()
    Tokenizer(library).save_pretrained(tmp_path)
    assert Tokenizer.from_pretrained(tmp_path).encode(["Café"])[0].tokens == ["[CLS]", "Café", "[SEP]"]


def charsmap(*replacements):
    data = base64.b64encode(bytes(4) + b"\0".join(replacements))
    return {"type": "Precompiled", "precompiled_charsmap": data.decode()}


def replace(content, **pattern):
    return {"type": "Replace", "pattern": pattern or {"String": "a"}, "content": content}


NO_BERT = "not a BERT tokenizer: "


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("pre_tokenizer", {"type": "FixedLength", "length": 0}, " cannot be used on this text: "),
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": "A" * 8}, " cannot be used on this text: "),
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": "A" * 4}, f"{NO_BERT}Precomp"),
        ("normalizer", {"type": "Sequence", "normalizers": [replace("a" * 100)] * 4}, "text 100,000,000 times longer"),
        ("normalizer", replace("a" * 256, Regex="x*"), "its normalizer can make a text 257 times longer"),
        ("normalizer", {"type": "Prepend", "prepend": "a" * 256}, "its normalizer can make a text 257 times longer"),
        ("normalizer", charsmap(b"a", b"b" * 257, b""), "its normalizer can make a text 257 times longer"),
        ("model", {**MODEL, "vocab": {**VOCAB, "cat": 5}}, rf"{NO_BERT}'\w+' has the id 5, wanted 6"),
        (
            "model",
            {**MODEL, "vocab": {**VOCAB, "cat": 10**6}},
            f"{NO_BERT}'Café' has the id 7, wanted 6, as ids count",
        ),
        ("model", {**MODEL, "unk_token": "[OOPS]"}, rf"{NO_BERT}WordPiece error: Missing \[UNK\] token"),
        ("post_processor", None, rf"{NO_BERT}it puts no \[CLS\] before a text and no \[SEP\]"),
    ],
)
def test_a_part_that_cannot_be_used_or_gives_other_rows_or_sequences_is_named(tmp_path, part, value, message):
    """A panic of the library is no Exception: it would come out as a traceback."""
    write(tmp_path / "tokenizer_config.json", '{"tokenizer_class": "PreTrainedTokenizerFast"}')
    path = write(tmp_path / "tokenizer.json", json.dumps({**WHOLE, part: value}))
    with pytest.raises(FileError, match=f"^{re.escape(str(path))}.*{message}"):
        Tokenizer.from_pretrained(tmp_path)


def test_a_tokenizer_that_cannot_be_used_on_one_text(tmp_path):
    split = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    path = write(tmp_path / "tokenizer.json", json.dumps({**WHOLE, "pre_tokenizer": split}))
    write(tmp_path / "tokenizer_config.json", '{"tokenizer_class": "PreTrainedTokenizerFast"}')
    tokenizer = Tokenizer.from_pretrained(tmp_path)
    for call in (tokenizer.encode, lambda texts: tokenizer.encode_words([texts])):
        with pytest.raises(FileError, match=f"^{re.escape(str(path))} cannot be used on this text: "):
            call(["a" * 30 + "!"])


def test_another_tokenizer_is_not_overwritten(tmp_path):
    """The same one is; a model beside it would be lost with its words."""
    one, other = small_tokenizer("cat"), small_tokenizer("dog")
    one.save_pretrained(tmp_path)
    one.save_pretrained(tmp_path)
    for kept in ("tokenizer.json", "vocab.txt"):
        with pytest.raises(FileExistsError, match=f"^{tmp_path} already has another tokenizer; to replace it"):
            other.save_pretrained(tmp_path)
        assert "cat" in all_tokens(Tokenizer.from_pretrained(tmp_path))
        (tmp_path / kept).unlink()
        one.save_pretrained(tmp_path)
    other.save_pretrained(tmp_path, overwrite=True)
    assert "dog" in all_tokens(Tokenizer.from_pretrained(tmp_path))


def test_no_files_no_text_and_no_library(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=re.escape(f"{tmp_path} has no tokenizer.json or vocab.txt")):
        Tokenizer.from_pretrained(tmp_path)
    with pytest.raises(FileNotFoundError, match="none is not a folder"):
        Tokenizer.from_pretrained(tmp_path / "none")
    good, bad = write(tmp_path / "vocab.txt", "\n".join(WORDS)), write(tmp_path / "bad", " \n\n")
    with pytest.raises(FileError, match=f"^{re.escape(str(bad))} is empty, wanted text"):
        Tokenizer.train([good, bad], vocab_size=50)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    for call in (lambda: Tokenizer.from_pretrained(tmp_path), lambda: Tokenizer.train([good])):
        with pytest.raises(MissingExtraError, match=r"the package tokenizers is missing; .* pip install .*\[hf\]"):
            call()
