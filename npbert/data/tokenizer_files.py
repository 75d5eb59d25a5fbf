"""The files of a tokenizer, as Hugging Face has them: tokenizer.json, vocab.txt and tokenizer_config.json."""

import base64
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from npbert.io.extras import import_extra
from npbert.io.files import (
    HOW_TO_DOWNLOAD,
    FileError,
    atomic_write,
    model_folder,
    read_json_object,
    read_text,
    write_json,
)

CONFIG_FILE = "tokenizer_config.json"
NO_LENGTH = 1_000_000
"""A longer model_max_length means that there is none: transformers writes 10³⁰ then."""

MOST_GROWTH = 256
"""A normalizer may make a text so many times as long: a few lines of JSON could ask for more than there is memory."""

_SETTINGS = {
    "lowercase": "do_lower_case",
    "strip_accents": "strip_accents",
    "handle_chinese_chars": "tokenize_chinese_chars",
}


class Encoding(Protocol):
    """A text as tokens: a `tokenizers.Encoding`.

    ids, type_ids, attention_mask, tokens: of each token. offsets: from and to which character of its text it comes.
    word_ids, and sequence_ids (0 or 1: of which text of a pair): None for [CLS] and [SEP]. overflowing: what was cut.
    """

    ids: list[int]
    type_ids: list[int]
    attention_mask: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    word_ids: list[int | None]
    sequence_ids: list[int | None]
    overflowing: "list[Encoding]"


def find_tokenizer(folder: Path) -> Path:
    """The path of tokenizer.json in `folder`, or else of vocab.txt. Raises: FileNotFoundError when there is neither."""
    folder = model_folder(folder)
    for path in (folder / "tokenizer.json", folder / "vocab.txt"):
        if path.is_file():
            return path
    what = "has no tokenizer.json and no vocab.txt" if folder.is_dir() else f"is not a folder ({HOW_TO_DOWNLOAD})"
    raise FileNotFoundError(f"{folder} {what}")


def read_max_length(folder: Path) -> int | None:
    """The model_max_length of the tokenizer_config.json in `folder`. Raises: as read_length."""
    path = folder / CONFIG_FILE
    return read_length(path, read_json_object(path, may_lack=True), "model_max_length")


def read_length(path: Path, stored: dict[str, Any], name: str) -> int | None:
    """The number of tokens that a text may have by the entry `name` of the object in `path`; None for any number.

    Raises: FileError that names file and entry for what is not a whole number of at least 1.
    """
    value = stored.get(name)
    if isinstance(value, int | float) and value > NO_LENGTH:
        return None
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise FileError(f"{path}: {name} is {value!r}, wanted a whole number of tokens, at least 1")
    return value


def read_library_tokenizer(path: Path) -> Any:
    """The library's tokenizer from a tokenizer.json, or from a vocab.txt with the settings beside it.

    Raises: FileError when a file is not UTF-8, or has a setting that is none; ValueError, or what the library raises,
    when there is no WordPiece in it, or its normalizer makes a text more than MOST_GROWTH times as long.
    """
    library = import_extra("tokenizers", extra="hf")
    text = read_text(path)
    if path.name == "vocab.txt":
        return library.BertWordPieceTokenizer(_vocabulary(text), **_normalizer(path.parent))
    with panics_named(lambda: f"{path} is not a tokenizer of BERT"):
        tokenizer = library.Tokenizer.from_str(text)
    growth = _growth(json.loads(text)["normalizer"] or {})
    if growth > MOST_GROWTH:
        raise ValueError(f"its normalizer can make a text {growth:,} times as long, wanted at most {MOST_GROWTH} times")
    if not isinstance(tokenizer.model, library.models.WordPiece):
        raise ValueError(f"its model is {type(tokenizer.model).__name__}, wanted WordPiece")
    return tokenizer


def _growth(normalizer: dict[str, Any]) -> int:
    """The number of times by which a normalizer of a tokenizer.json can make a text longer."""
    match normalizer.get("type"):
        case "Sequence":
            return math.prod(map(_growth, normalizer["normalizers"]))
        case "Prepend":
            return 1 + len(normalizer["prepend"])
        case "Replace":
            finds_characters = bool(normalizer["pattern"].get("String"))  # others may be found between two of them
            return max(1, len(normalizer["content"]) + (not finds_characters))
        case "Precompiled":  # the size of a table, the table, and what it puts in, with zeros between
            data = base64.b64decode(normalizer["precompiled_charsmap"])
            return max(1, *map(len, data[4 + int.from_bytes(data[:4], "little") :].split(b"\0")))
    return 1


@contextmanager
def panics_named(words: Callable[[], str]) -> Iterator[None]:
    """A panic of the library inside comes out as a FileError that begins with `words`. (It is no Exception, so that
    nobody catches it by chance, and its class can be imported from nowhere.)"""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise FileError(f"{words()}: {error}") from None


@lru_cache(maxsize=8)
def cutting_tokenizer(tokenizer: Any, max_length: int, stride: int | None = None) -> Any:
    """A copy of the library's tokenizer that cuts to `max_length` tokens: of a pair always the longer text first, or,
    with a `stride`, the second into parts that each begin with the last `stride` tokens of the one before. The library
    keeps the length in the tokenizer, so threads that shared one would get each other's."""
    copy = import_extra("tokenizers", extra="hf").Tokenizer.from_str(tokenizer.to_str())
    strategy = "longest_first" if stride is None else "only_second"
    copy.enable_truncation(max_length, stride=stride or 0, strategy=strategy)
    return copy


def encodings_of(tokenizer: Any, texts: Sequence[Any], *, name: str, **how: bool) -> list[Any]:
    """The texts by the library's tokenizer, which is called `name`; `how` are options of its encode_batch.

    Raises: FileError that names the part that cannot be used on a text; ValueError for half of a character.
    """
    try:
        with panics_named(lambda: f"{name}: {_failing_part(tokenizer, texts)} cannot be used on this text"):
            encodings: list[Any] = tokenizer.encode_batch(list(texts), **how)
    except TypeError as error:
        half = next(text for text in texts if "\\ud" in ascii(text))
        raise ValueError(f"{half!a:.60} has half of a character in it (a lone surrogate), wanted text") from error
    return encodings


def _failing_part(tokenizer: Any, texts: Sequence[Any]) -> str:
    """The part of the library's tokenizer that panics for one of the texts, by its name in tokenizer.json."""
    strings: Any = [part for text in texts for part in ([text] if isinstance(text, str) else text)]
    for name, method in (("normalizer", "normalize_str"), ("pre_tokenizer", "pre_tokenize_str")):
        part = getattr(tokenizer, name)
        try:
            with panics_named(str):
                strings = [getattr(part, method)(text) for text in strings] if part else strings
        except FileError:
            return f"its {name}, {type(part).__name__},"
    return "its model"


def write_library_tokenizer(tokenizer: Any, folder: Path, *, max_length: int | None, overwrite: bool) -> None:
    """Write the library's tokenizer into `folder`: all three files, each whole or not at all.

    Raises: FileExistsError where another one is, unless `overwrite`.
    """
    tokens = [tokenizer.id_to_token(index) for index in range(tokenizer.get_vocab_size())]
    normalizer = json.loads(tokenizer.to_str())["normalizer"] or {}
    config: dict[str, Any] = {theirs: normalizer[ours] for ours, theirs in _SETTINGS.items() if ours in normalizer}
    if not normalizer or normalizer["type"] == "BertNormalizer":
        config["tokenizer_class"] = "BertTokenizer"
    else:  # transformers makes a BertTokenizer from vocab.txt, and would not clean a text in its own way
        config["tokenizer_class"] = "PreTrainedTokenizerFast"
        config |= {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "cls", "mask")}
    if max_length is not None:
        config["model_max_length"] = max_length
    texts = {"tokenizer.json": tokenizer.to_str(pretty=True), "vocab.txt": "".join(f"{token}\n" for token in tokens)}
    for name, text in texts.items():
        if not overwrite and (folder / name).exists() and (folder / name).read_bytes() != text.encode():
            raise FileExistsError(f"{folder} holds another tokenizer; overwrite=True replaces it")
    for name, text in texts.items():
        with atomic_write(folder / name) as path:
            path.write_bytes(text.encode())
    with atomic_write(folder / CONFIG_FILE) as path:
        write_json(path, config)


def _vocabulary(text: str) -> dict[str, int]:
    """The tokens of a vocab.txt, one on each line, with their ids."""
    tokens = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    vocabulary = {token: index for index, token in enumerate(tokens)}
    if len(vocabulary) < len(tokens):
        twice = next(token for index, token in enumerate(tokens) if vocabulary[token] != index)
        raise ValueError(f"{twice!r} is in it twice")
    return vocabulary


def _normalizer(folder: Path) -> dict[str, Any]:
    """The treatment of capital letters, accents and Chinese characters, where tokenizer_config.json says it."""
    path = folder / CONFIG_FILE
    stored = read_json_object(path, may_lack=True)
    settings = {ours: stored[theirs] for ours, theirs in _SETTINGS.items() if theirs in stored}
    for ours, value in settings.items():
        if not (isinstance(value, bool) or (value is None and ours == "strip_accents")):
            raise FileError(f"{path}: {_SETTINGS[ours]} is {value!r}, wanted true or false")
    return settings


def check_room(max_length: int | None) -> None:
    """Raise ValueError for a max_length with no room for a token of each text of a pair."""
    if max_length is not None and max_length < 5:
        raise ValueError(f"max_length is {max_length}, wanted at least 5: a pair has 3 special tokens")
