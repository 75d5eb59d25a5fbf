"""The files of a tokenizer, in Hugging Face's format, read and written: tokenizer.json, or vocab.txt."""

import json
from pathlib import Path
from typing import Any

from npbert.data.library_tokenizer import add_tokens, bert_tokenizer, numbered, tokenizer_from
from npbert.data.tokenizer_config import (
    BERTS,
    CONFIG_FILE,
    INPUTS,
    NORMALIZER,
    added_tokens,
    read_length,
    read_settings,
    settings_of,
    special_tokens,
)
from npbert.io import read_lines
from npbert.io.files import (
    LARGEST_TOKENIZER,
    FileError,
    atomic_write,
    read_json_object,
    write_json,
)


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
        stored = {"model": {"vocab": numbered(read_lines(path))}, "added_tokens": []}
    else:
        raise FileError(f"{folder / CONFIG_FILE}: its tokenizer_class needs a tokenizer.json")
    kind = stored["model"].get("type", "WordPiece")
    kinds = ["WordPiece"] if is_bert else ["WordPiece", "BPE", "Unigram"]
    if kind not in kinds:
        raise ValueError(f"its model is {kind}, wanted {' or '.join(kinds)}")
    flags = special_tokens(settings)
    special = {attribute: token["content"] for attribute, token in flags.items()}
    added = added_tokens(settings, stored, flags.values())
    if is_bert:
        normalizer = {of_library: settings.get(name, usual) for name, (of_library, usual) in NORMALIZER.items()}
        ids = {token: added[token]["id"] for token in special.values() if "id" in added[token]}
        tokenizer = bert_tokenizer({**ids, **stored["model"]["vocab"]}, special, **normalizer)
    else:
        tokenizer = tokenizer_from(stored)
    add_tokens(tokenizer, added.values())
    direction = (stored.get("truncation") or {}).get("direction", "right")
    return {
        "library_tokenizer": tokenizer,
        "path": path,
        "special": special,
        "max_length": read_length(folder / CONFIG_FILE, settings, "model_max_length"),
        "truncation_side": settings.get("truncation_side") or direction.lower(),
        "has_types": "token_type_ids" in (settings.get("model_input_names") or INPUTS),
    }


def write_tokenizer(tokenizer: Any, folder: Path, *, overwrite: bool) -> None:
    """Write a Tokenizer into `folder`: its files, each whole or not at all; a vocab.txt only for WordPiece.

    Raises: FileExistsError for another tokenizer there, unless `overwrite`.
    """
    text = tokenizer.library_tokenizer.to_str(pretty=True)
    files, stored = {"tokenizer.json": text.encode()}, json.loads(text)
    if stored["model"]["type"] == "WordPiece":
        files["vocab.txt"] = "".join(f"{token}\n" for token in tokenizer.tokens).encode()
    for name, data in files.items():
        if not overwrite and (folder / name).exists() and (folder / name).read_bytes() != data:
            raise FileExistsError(f"{folder} already has another tokenizer; to replace it, give overwrite=True")
    for name, data in files.items():
        with atomic_write(folder / name) as path:
            path.write_bytes(data)
    write_json(folder / CONFIG_FILE, settings_of(tokenizer, stored))
