"""The files of a tokenizer, in Hugging Face's format, read and written: tokenizer.json, or vocab.txt."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from npbert.data.library_tokenizer import tokenizer_from
from npbert.data.tokenizer_config import (
    BERTS,
    CONFIG_FILE,
    INPUTS,
    NORMALIZER,
    SPECIAL,
    added_tokens,
    read_length,
    read_settings,
    settings_of,
    special_tokens,
)
from npbert.io import import_extra, read_lines
from npbert.io.files import (
    LARGEST_TOKENIZER,
    FileError,
    atomic_write,
    read_json_object,
    write_json,
)


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


def read_tokenizer(path: Path) -> dict[str, Any]:
    """Return the arguments of a Tokenizer, from a tokenizer.json or a vocab.txt, with the settings next to it.

    A BertTokenizer, the usual class, takes the vocabulary and the added tokens from the file, but BERT's rules with the
    settings of the configuration; a PreTrainedTokenizerFast is the file unchanged.

    Raises: FileError if a file is not UTF-8, or as read_settings; ValueError, or the library's errors, without
    WordPiece, or for a normalizer that makes a text more than MOST_GROWTH times as long.
    """
    folder = path.parent
    settings = read_settings(folder)
    is_bert = settings["tokenizer_class"] in BERTS
    if path.name == "tokenizer.json":
        stored = read_json_object(path, most=LARGEST_TOKENIZER)
    elif is_bert:
        stored = {"model": {"vocab": _numbered(read_lines(path))}, "added_tokens": []}
    else:
        raise FileError(f"{folder / CONFIG_FILE}: its tokenizer_class needs a tokenizer.json")
    kind = stored["model"].get("type", "WordPiece")
    kinds = ["WordPiece"] if is_bert else ["WordPiece", "BPE", "Unigram"]
    if kind not in kinds:
        raise ValueError(f"its model is {kind}, wanted {' or '.join(kinds)}")
    special = {attribute: token["content"] for attribute, token in special_tokens(settings).items()}
    added, direction = added_tokens(settings, stored), (stored.get("truncation") or {}).get("direction", "right")
    tokenizer = _bert(stored["model"]["vocab"], settings, special, added) if is_bert else tokenizer_from(stored, added)
    return {
        "library_tokenizer": tokenizer,
        "path": path,
        "special": special,
        "max_length": read_length(folder / CONFIG_FILE, settings, "model_max_length"),
        "truncation_side": settings.get("truncation_side") or direction.lower(),
        "has_types": "token_type_ids" in (settings.get("model_input_names") or INPUTS),
    }


def bert_tokenizer(tokens: Sequence[str], *, lowercase: bool = True) -> Any:
    """Return the library's tokenizer with BERT's rules. The ids are the places of the tokens; the tokens of SPECIAL are
    among them."""
    added = [{"content": token, "special": True} for token in SPECIAL.values()]
    return _bert(_numbered(tokens), {"do_lower_case": lowercase}, SPECIAL, added)


def _bert(
    ids: Mapping[str, int], settings: Mapping[str, Any], special: Mapping[str, str], added: Sequence[dict[str, Any]]
) -> Any:
    """Return the library's tokenizer with BERT's rules and the settings of a configuration, as transformers makes it.

    A text becomes `[CLS] text [SEP]`, and a pair `[CLS] first [SEP] second [SEP]`, with type 1 from the second on.
    """
    library = import_extra("tokenizers", extra="hf")
    tokenizer = library.Tokenizer(library.models.WordPiece(ids, unk_token=special["unk_id"]))
    normalizer = {of_library: settings.get(name, usual) for name, (of_library, usual) in NORMALIZER.items()}
    tokenizer.normalizer = library.normalizers.BertNormalizer(**normalizer)
    tokenizer.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = library.decoders.WordPiece()
    tokenizer.add_tokens([library.AddedToken(**flags) for flags in added])
    sep, cls = ((token, tokenizer.token_to_id(token)) for token in (special["sep_id"], special["cls_id"]))
    tokenizer.post_processor = library.processors.BertProcessing(sep, cls)
    return tokenizer


def _numbered(tokens: Sequence[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(tokens)}


def write_tokenizer(tokenizer: Any, folder: Path, *, overwrite: bool) -> None:
    """Write a Tokenizer into `folder`: its files, each whole or not at all; a vocab.txt only for WordPiece.

    Raises: FileExistsError for another tokenizer there, unless `overwrite`.
    """
    text = tokenizer.library_tokenizer.to_str(pretty=True)
    texts, stored = {"tokenizer.json": text}, json.loads(text)
    if stored["model"]["type"] == "WordPiece":
        texts["vocab.txt"] = "".join(f"{token}\n" for token in tokenizer.tokens)
    for name, text in texts.items():
        if not overwrite and (folder / name).exists() and (folder / name).read_bytes() != text.encode():
            raise FileExistsError(f"{folder} already has another tokenizer; to replace it, give overwrite=True")
    for name, text in texts.items():
        with atomic_write(folder / name) as path:
            path.write_bytes(text.encode())
    write_json(folder / CONFIG_FILE, settings_of(tokenizer, stored))
