"""The library `tokenizers`, with readable errors instead of its panics."""

import base64
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Protocol

from npbert.data.tokenizer_config import SPECIAL, setting_of
from npbert.io import FileError, import_extra

MOST_GROWTH = 256
"""The most growth of a text by a normalizer: a few lines of JSON could ask for more than all memory."""


class Encoding(Protocol):
    """A text as tokens: a `tokenizers.Encoding`.

    ids, type_ids, attention_mask, tokens: of each token. offsets: its first character in the text, and the one after
    its last. word_ids, and sequence_ids (0 or 1, the text of a pair): None for [CLS] and [SEP]. overflowing: the parts
    that were cut.
    """

    ids: list[int]
    type_ids: list[int]
    attention_mask: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    word_ids: list[int | None]
    sequence_ids: list[int | None]
    overflowing: "list[Encoding]"

    def word_to_chars(self, word: int | None, sequence: int = 0, /) -> tuple[int, int]:
        """Return the first character of the word in the text with this number, and the one after its last."""


def tokenizer_from(stored: dict[str, Any]) -> Any:
    """Return the library's tokenizer from the object of a tokenizer.json.

    Raises: ValueError for a normalizer that makes a text more than MOST_GROWTH times as long; the library's errors for
    other JSON.
    """
    tokenizer = import_extra("tokenizers").Tokenizer.from_str(json.dumps(stored, ensure_ascii=False))
    growth = _growth(stored["normalizer"] or {})
    if growth > MOST_GROWTH:
        raise ValueError(f"its normalizer can make a text {growth:,} times longer, wanted at most {MOST_GROWTH} times")
    return tokenizer


def bert_tokenizer(ids: Mapping[str, int], special: Mapping[str, str] = SPECIAL, **normalizer: bool | None) -> Any:
    """Return the library's tokenizer with BERT's rules, as transformers makes it.

    A text becomes `[CLS] text [SEP]`, and a pair `[CLS] first [SEP] second [SEP]`, with type 1 from the second on.

    ids: of the tokens.   special: those by the attribute for their id.   normalizer: options of its BertNormalizer.
    """
    tokens = {setting_of(attribute): token for attribute, token in special.items()}
    return import_extra("tokenizers").BertWordPieceTokenizer(dict(ids), **tokens, **normalizer)


def numbered(tokens: Sequence[str]) -> dict[str, int]:
    """Return the place of each token, as its id."""
    return {token: number for number, token in enumerate(tokens)}


def add_tokens(tokenizer: Any, added: Iterable[dict[str, Any]]) -> None:
    """Add tokens, each with its flags, to the library's tokenizer."""
    make = import_extra("tokenizers").AddedToken
    for flags in added:
        tokenizer.add_tokens([make(**{name: flags[name] for name in flags.keys() - {"id", "__type"}})])


def _growth(normalizer: dict[str, Any]) -> int:
    """Return the largest growth factor of a text by a normalizer of a tokenizer.json."""
    match normalizer.get("type"):
        case "Sequence":
            return math.prod(map(_growth, normalizer["normalizers"]))
        case "Prepend":
            return 1 + len(normalizer["prepend"])
        case "Replace":
            finds_characters = bool(normalizer["pattern"].get("String"))  # others may match in between
            return max(1, len(normalizer["content"]) + (not finds_characters))
        case "Precompiled":  # the size of a table, the table, and the replacements, with zeros between
            data = base64.b64decode(normalizer["precompiled_charsmap"])
            return max(1, *map(len, data[4 + int.from_bytes(data[:4], "little") :].split(b"\0")))
    return 1


@contextmanager
def panics_named(words: str) -> Iterator[None]:
    """Turn a panic of the library into a FileError that begins with `words`. (A panic is no Exception, and its class
    cannot be imported.)"""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise FileError(f"{words}: {error}") from None


@lru_cache(maxsize=8)
def cutting_tokenizer(tokenizer: Any, max_length: int, stride: int | None, direction: str) -> Any:
    """Return a copy of the library's tokenizer that cuts to `max_length` tokens: the longer text of a pair first, or,
    with a `stride`, the second text into parts, each beginning with the last `stride` tokens of the part before.

    A copy, as the library keeps the length in the tokenizer, which threads share."""
    copy = import_extra("tokenizers").Tokenizer.from_str(tokenizer.to_str())
    strategy = "longest_first" if stride is None else "only_second"
    copy.enable_truncation(max_length, stride=stride or 0, strategy=strategy, direction=direction)
    return copy
