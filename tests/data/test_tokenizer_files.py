"""Tokenizer: out of files and into them. (tests/parity/test_tokenizer_folders.py has all settings.)"""

import base64
import json
import re
import sys

import pytest

from npbert import Tokenizer
from npbert.io.files import FileError
from tests.small_tokenizer import small_tokenizer

tokenizers = pytest.importorskip("tokenizers", reason="pip install -e '.[hf]'")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "Café", "cafe"]
VOCAB = {word: index for index, word in enumerate(WORDS)}
WHOLE = json.loads(tokenizers.BertWordPieceTokenizer(VOCAB).to_str())
AS_IT_IS = {"tokenizer_class": "PreTrainedTokenizerFast"}


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def folder_of(path, settings=None, **parts):
    """A folder with a vocab.txt, or with a tokenizer.json of other parts that is read as it is."""
    write(path / "vocab.txt", "\n".join(WORDS))
    write(path / "tokenizer_config.json", json.dumps(AS_IT_IS if parts else settings or {}))
    if parts:
        write(path / "tokenizer.json", json.dumps({**WHOLE, **parts}))
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_ends_of_lines_and_byte_order_mark(tmp_path, end, mark):
    """An empty line is a token, too, but for one at the end."""
    for text in (end.join([*WORDS, "", "x"]), end.join([*WORDS, "", "x", ""])):
        write(tmp_path / "vocab.txt", mark + text)
        assert Tokenizer.from_pretrained(tmp_path).tokens == [*WORDS, "", "x"]


BPE = tokenizers.Tokenizer(tokenizers.models.BPE()).to_str()
NO_BERT = " is not a BERT tokenizer: "


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("vocab.txt", b"[PAD]\n[UNK]\nca\xff\n", ", line 3: byte 3 of the line (0xff) is not UTF-8"),
        ("vocab.txt", "\n".join([*WORDS, "cat"]), f"{NO_BERT}'Café' has the id 7, wanted 6, as ids count"),
        ("vocab.txt", "\n".join(WORDS).replace("[MASK]", "new"), f"{NO_BERT}the vocabulary has no [MASK]"),
        ("tokenizer.json", BPE, f"{NO_BERT}its model is BPE, wanted WordPiece"),
        ("tokenizer.json", '{"version": ', ", line 1: not valid JSON: Expecting value"),
        *[
            ("tokenizer_config.json", json.dumps({name: value}), f": {name} is {value!r}, wanted {wanted}")
            for name, value, wanted in [
                ("split_special_tokens", True, "False"),
                ("truncation_side", ["left"], "'left' or 'right'"),
                ("tokenizer_class", "T5Tokenizer", "BertTokenizer"),
                *(("model_max_length", value, "a whole number") for value in (0, 12.5, "128", True)),
            ]
        ],
        ("tokenizer_config.json", json.dumps(AS_IT_IS), ": its tokenizer_class needs a tokenizer.json"),
    ],
)
def test_a_bad_file_is_named(tmp_path, name, content, message):
    write(folder_of(tmp_path) / name, content)
    with pytest.raises(FileError, match="^" + re.escape(f"{tmp_path / name}{message}")):
        Tokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize("settings", [{}, {"do_lower_case": False}, {"truncation_side": "left", "pad_token": "the"}])
@pytest.mark.parametrize("removed", ["tokenizer.json", "vocab.txt"])
def test_saved_and_read_again(tmp_path, settings, removed):
    """Either file alone holds all of it, and the length of the last call is in neither."""
    before, folder = Tokenizer.from_pretrained(folder_of(tmp_path, settings)), tmp_path / "new" / "folder"
    before.encode(["the cat"], max_length=5)
    before.save_pretrained(str(folder))
    assert sorted(path.name for path in folder.iterdir()) == ["tokenizer.json", "tokenizer_config.json", "vocab.txt"]
    assert (before.encode(["the the the cat"], max_length=5)[0].tokens[3] == "cat") == ("truncation_side" in settings)
    (folder / removed).unlink()
    after = Tokenizer.from_pretrained(folder)
    assert (after.tokens, repr(after), after.truncation_side) == (WORDS, repr(before), before.truncation_side)
    texts = ["The Café 中国 [MASK]", ("cat", "the CAT")]
    one, other = ([each.tokens for each in read.encode(texts, max_length=6)] for read in (before, after))
    assert one == other


@pytest.mark.parametrize(("stored", "read"), [(None, None), (1_000_000, 1_000_000), (1_000_001, None), (1e30, None)])
def test_the_length_of_a_text_is_read_and_written(tmp_path, stored, read):
    """transformers writes 10³⁰ for none; npbert writes nothing then."""
    tokenizer = Tokenizer.from_pretrained(folder_of(tmp_path, {"model_max_length": stored}))
    assert tokenizer.max_length == read
    tokenizer.save_pretrained(tmp_path / "new")
    assert json.loads((tmp_path / "new" / "tokenizer_config.json").read_text()).get("model_max_length") == read


def charsmap(*replacements):
    data = base64.b64encode(bytes(4) + b"\0".join(replacements))
    return {"type": "Precompiled", "precompiled_charsmap": data.decode()}


def replace(content, **pattern):
    return {"type": "Replace", "pattern": pattern or {"String": "a"}, "content": content}


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("pre_tokenizer", {"type": "FixedLength", "length": 0}, " cannot be used on this text: "),
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": "A" * 4}, f"{NO_BERT}Precomp"),
        ("normalizer", {"type": "Sequence", "normalizers": [replace("a" * 100)] * 4}, "text 100,000,000 times longer"),
        *[
            ("normalizer", value, "its normalizer can make a text 257 times longer")
            for value in (
                replace("a" * 256, Regex="x*"),
                {"type": "Prepend", "prepend": "a" * 256},
                charsmap(b"a", b"b" * 257, b""),
            )
        ],
        ("model", {**WHOLE["model"], "unk_token": "[OOPS]"}, rf"{NO_BERT}WordPiece error: Missing \[UNK\] token"),
        ("post_processor", None, rf"{NO_BERT}it puts no \[CLS\] before a text and no \[SEP\]"),
    ],
)
def test_a_part_that_cannot_be_used_or_gives_other_rows_is_named(tmp_path, part, value, message):
    """A panic of the library is no Exception: it would come out as a traceback."""
    path = folder_of(tmp_path, **{part: value}) / "tokenizer.json"
    with pytest.raises(FileError, match=f"^{re.escape(str(path))}.*{message}"):
        Tokenizer.from_pretrained(tmp_path)


def test_a_tokenizer_that_cannot_be_used_on_one_text(tmp_path):
    split = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    path = folder_of(tmp_path, pre_tokenizer=split) / "tokenizer.json"
    tokenizer = Tokenizer.from_pretrained(tmp_path)
    for text, are_words in (("a" * 30 + "!", False), (["a" * 30 + "!"], True)):
        with pytest.raises(FileError, match=f"^{re.escape(str(path))} cannot be used on this text: "):
            tokenizer.encode([text], is_pretokenized=are_words)


def test_another_tokenizer_is_not_overwritten(tmp_path):
    """The same one is; a model beside it would be lost with its words."""
    one, other = small_tokenizer("cat"), small_tokenizer("dog")
    one.save_pretrained(tmp_path)
    one.save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(FileExistsError, match=f"^{tmp_path} already has another tokenizer; to replace it"):
        other.save_pretrained(tmp_path)
    assert "cat" in Tokenizer.from_pretrained(tmp_path).tokens
    other.save_pretrained(tmp_path, overwrite=True)
    assert "dog" in Tokenizer.from_pretrained(tmp_path).tokens


def test_no_files_no_text_and_no_library(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"checkpoint: it has no tokenizer\.json or vocab"):
        Tokenizer.from_pretrained(tmp_path)
    bad = write(tmp_path / "vocab.txt", " \n\n")
    with pytest.raises(FileError, match=f"^{re.escape(str(bad))} is empty, wanted text"):
        Tokenizer.train([bad], vocab_size=50)
    write(tmp_path / "vocab.txt", "".join(f"{token}\n" for token in VOCAB))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match=r"the package tokenizers is missing; .* pip install .*\[hf\]"):
        Tokenizer.from_pretrained(tmp_path)
