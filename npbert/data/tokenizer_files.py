"""The library's tokenizers, with readable errors instead of its panics, out of Hugging Face's files."""

import base64
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from npbert.data.tokenizer_config import (
    BERTS,
    CONFIG_FILE,
    INPUTS,
    NORMALIZER,
    find_tokens,
    read_length,
    read_settings,
)
from npbert.io import FileError, import_extra, read_json_object, read_lines
from npbert.io.files import LARGEST_TOKENIZER

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


def bert_tokenizer(ids: Mapping[str, int], **options: Any) -> Any:
    """Return the library's tokenizer with BERT's rules, as transformers makes it.

    A text becomes `[CLS] text [SEP]`, and a pair `[CLS] first [SEP] second [SEP]`, with type 1 from the second on.

    ids: of the tokens.   options: special tokens by their settings, and options of its BertNormalizer.
    """
    return import_extra("tokenizers").BertWordPieceTokenizer(dict(ids), **options)


def numbered(tokens: Sequence[str]) -> dict[str, int]:
    """Return the place of each token, as its id."""
    return {token: number for number, token in enumerate(tokens)}


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


def read_tokenizer(path: Path) -> dict[str, Any]:
    """Return the arguments of a Tokenizer, from a tokenizer.json or a vocab.txt, with the settings next to it.

    A BertTokenizer, the usual class, takes the vocabulary and the added tokens from the file, but BERT's rules with the
    settings of the configuration; a PreTrainedTokenizerFast is the file unchanged.

    Raises: FileError if a file is not UTF-8, or as read_settings; ValueError, or the library's errors, without
    WordPiece, or for a normalizer that makes a text more than MOST_GROWTH times as long.
    """
    library, folder = import_extra("tokenizers"), path.parent
    settings = read_settings(folder)
    is_bert = settings["tokenizer_class"] in BERTS
    if path.name == "tokenizer.json":
        stored = read_json_object(path, most=LARGEST_TOKENIZER)
    elif is_bert:
        stored = {"model": {"vocab": numbered(read_lines(path))}, "added_tokens": []}
    else:
        raise FileError(f"{folder / CONFIG_FILE}: its tokenizer_class needs a tokenizer.json")
    kind = stored["model"].get("type", "WordPiece")
    kinds = ["WordPiece"] if is_bert else ["WordPiece", "BPE", "Unigram"]
    if kind not in kinds:
        raise ValueError(f"its model is {kind}, wanted {' or '.join(kinds)}")
    flags, added = find_tokens(settings, stored)
    special = {name: token["content"] for name, token in flags.items()}
    if is_bert:
        normalizer = {of_library: settings.get(name, usual) for name, (of_library, usual) in NORMALIZER.items()}
        ids = {token: added[token]["id"] for token in special.values() if "id" in added[token]}
        tokenizer = bert_tokenizer({**ids, **stored["model"]["vocab"]}, **special, **normalizer)
    else:
        tokenizer = library.Tokenizer.from_str(json.dumps(stored, ensure_ascii=False))
        growth = _growth(stored["normalizer"] or {})
        if growth > MOST_GROWTH:
            raise ValueError(
                f"its normalizer can make a text {growth:,} times longer, wanted at most {MOST_GROWTH} times"
            )
    flagged = ({name: token[name] for name in token.keys() - {"id", "__type"}} for token in added.values())
    tokenizer.add_tokens([library.AddedToken(**each) for each in flagged])
    direction = (stored.get("truncation") or {}).get("direction", "right")
    return {
        "library_tokenizer": tokenizer,
        "path": path,
        "special": special,
        "max_length": read_length(folder / CONFIG_FILE, settings, "model_max_length"),
        "truncation_side": settings.get("truncation_side") or direction.lower(),
        "has_types": "token_type_ids" in (settings.get("model_input_names") or INPUTS),
    }
