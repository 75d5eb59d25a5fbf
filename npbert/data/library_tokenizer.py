"""The library `tokenizers`, with errors that can be read: what it cannot do comes out of it as a panic."""

import base64
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from npbert.io.extras import import_extra
from npbert.io.files import FileError

MOST_GROWTH = 256
"""A normalizer may make a text so many times as long: a few lines of JSON could ask for more than there is memory."""


def tokenizer_from(stored: dict[str, Any], name: str) -> Any:
    """The library's tokenizer from the object of a tokenizer.json, which is called `name`.

    Raises: ValueError for a normalizer that makes a text more than MOST_GROWTH times as long; FileError, or what the
    library raises, for what is not a tokenizer.
    """
    with panics_named(f"{name} is not a BERT tokenizer"):
        tokenizer = import_extra("tokenizers", extra="hf").Tokenizer.from_str(json.dumps(stored, ensure_ascii=False))
    growth = _growth(stored["normalizer"] or {})
    if growth > MOST_GROWTH:
        raise ValueError(f"its normalizer can make a text {growth:,} times longer, wanted at most {MOST_GROWTH} times")
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
def panics_named(words: str) -> Iterator[None]:
    """A panic of the library inside comes out as a FileError that begins with `words`. (It is no Exception, so that
    nobody catches it by chance, and its class can be imported from nowhere.)"""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise FileError(f"{words}: {error}") from None


@lru_cache(maxsize=8)
def cutting_tokenizer(tokenizer: Any, max_length: int, stride: int | None, direction: str) -> Any:
    """A copy of the library's tokenizer that cuts to `max_length` tokens: of a pair always the longer text first, or,
    with a `stride`, the second into parts that each begin with the last `stride` tokens of the one before. The library
    keeps the length in the tokenizer, so threads that shared one would get each other's."""
    copy = import_extra("tokenizers", extra="hf").Tokenizer.from_str(tokenizer.to_str())
    strategy = "longest_first" if stride is None else "only_second"
    copy.enable_truncation(max_length, stride=stride or 0, strategy=strategy, direction=direction)
    return copy


def encodings_of(tokenizer: Any, texts: Sequence[Any], *, name: str, **how: bool) -> list[Any]:
    """The texts by the library's tokenizer, which is called `name`; `how` are options of its encode_batch.

    Raises: FileError where it cannot be used on a text; ValueError for half of a character.
    """
    try:
        with panics_named(f"{name} cannot be used on this text"):
            encodings: list[Any] = tokenizer.encode_batch(list(texts), **how)
    except TypeError as error:
        half = next(text for text in texts if "\\ud" in ascii(text))
        raise ValueError(f"{half!a:.60} has half of a character (a lone surrogate), wanted text") from error
    return encodings
