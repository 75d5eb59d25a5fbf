"""The files of a tokenizer, in Hugging Face's format, read and written: tokenizer.json, or vocab.txt."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from npbert.data.library_tokenizer import tokenizer_from
from npbert.data.tokenizer_config import (
    AS_IT_IS,
    BERT,
    CONFIG_FILE,
    INPUTS,
    NORMALIZER,
    SPECIAL,
    TokenizerConfig,
    token_name,
)
from npbert.io.extras import import_extra
from npbert.io.files import (
    HOW_TO_DOWNLOAD,
    LARGEST_TOKENIZER,
    FileError,
    atomic_write,
    model_folder,
    read_json_object,
    read_text,
    write_json,
)

KINDS = ("WordPiece", "BPE", "Unigram")
"""The models of a tokenizer.json: for BERT and its descendants."""


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


def find_tokenizer(folder: Path) -> Path:
    """Return the path of tokenizer.json in `folder`, or else of vocab.txt. Raises: FileNotFoundError without both."""
    folder = model_folder(folder)
    for path in (folder / "tokenizer.json", folder / "vocab.txt"):
        if path.is_file():
            return path
    what = "has no tokenizer.json or vocab.txt" if folder.is_dir() else f"is not a folder ({HOW_TO_DOWNLOAD})"
    raise FileNotFoundError(f"{folder} {what}")


def read_tokenizer(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the library's tokenizer from a tokenizer.json or a vocab.txt, with the settings next to it, and the other
    arguments of a Tokenizer.

    A BertTokenizer, the usual class, takes the vocabulary and the added tokens from the file, but BERT's rules with the
    settings of the configuration; a PreTrainedTokenizerFast is the file unchanged.

    Raises: FileError if a file is not UTF-8, or as TokenizerConfig; ValueError, or the library's errors, without
    WordPiece, or for a normalizer that makes a text more than MOST_GROWTH times as long.
    """
    config = TokenizerConfig(path.parent)
    is_bert = config.tokenizer_class == BERT
    if path.name == "vocab.txt":
        if not is_bert:
            raise FileError(f"{config.path}: tokenizer_class is {AS_IT_IS}, which needs a tokenizer.json")
        stored = _bert(_numbered(read_text(path).replace("\r\n", "\n").removesuffix("\n").split("\n")), {})
    else:
        stored = read_json_object(path, most=LARGEST_TOKENIZER)
    kind = stored["model"].get("type", "WordPiece")
    wanted = KINDS[:1] if is_bert else KINDS
    if kind not in wanted:
        raise ValueError(f"its model is {kind}, wanted {' or '.join(wanted)}")
    added = config.added_tokens(stored)
    if is_bert:
        rules = _bert(stored["model"]["vocab"], config.settings, unk_token=config.special["unk_id"])
        stored |= {name: rules[name] for name in ("model", "normalizer", "pre_tokenizer", "added_tokens")}
    tokenizer = tokenizer_from(stored, str(path))
    tokenizer.add_tokens([import_extra("tokenizers", extra="hf").AddedToken(**flags) for flags in added])
    if is_bert:
        _put_special_tokens_around(tokenizer, config.special, reads_types=config.reads_types)
    side = ((stored.get("truncation") or {}).get("direction") or "right").lower()
    side = config.settings.get("truncation_side") or side
    return tokenizer, {
        "special": config.special,
        "max_length": config.max_length,
        "truncation_side": side,
        "reads_types": config.reads_types,
    }


def bert_tokenizer(tokens: Sequence[str], *, lowercase: bool = True) -> Any:
    """Return the library's tokenizer with BERT's rules. The ids are the places of the tokens; the tokens of SPECIAL are
    among them.

    Raises: ValueError for a token that occurs twice.
    """
    tokenizer = tokenizer_from(_bert(_numbered(tokens), {"do_lower_case": lowercase}), "the vocabulary")
    tokenizer.add_special_tokens([token for token in SPECIAL.values() if token in tokens])
    _put_special_tokens_around(tokenizer, SPECIAL)
    return tokenizer


def _bert(
    vocabulary: Mapping[str, int], settings: Mapping[str, Any], *, unk_token: str = SPECIAL["unk_id"]
) -> dict[str, Any]:
    """Return the object of a tokenizer.json with BERT's rules and the settings of a configuration, as transformers
    makes it."""
    normalizer = {of_library: settings.get(name, usual) for name, (of_library, usual) in NORMALIZER.items()}
    model = {"type": "WordPiece", "unk_token": unk_token, "continuing_subword_prefix": "##"}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, **normalizer},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {**model, "max_input_chars_per_word": 100, "vocab": vocabulary},
    }


def _numbered(tokens: Sequence[str]) -> dict[str, int]:
    """Return the ids of the tokens. Raises: ValueError for a token that occurs twice."""
    vocabulary = {token: index for index, token in enumerate(tokens)}
    if len(vocabulary) < len(tokens):
        twice = next(token for index, token in enumerate(tokens) if vocabulary[token] != index)
        raise ValueError(f"it has {twice!r} twice")
    return vocabulary


def _put_special_tokens_around(tokenizer: Any, special: Mapping[str, str], *, reads_types: bool = True) -> None:
    """Make texts `[CLS] text [SEP]`, and pairs `[CLS] first [SEP] second [SEP]`, with type 1 from the second on if the
    model reads types. If the file already does so, it stays."""
    cls, sep = special["cls_id"], special["sep_id"]
    cls_id, sep_id = (tokenizer.token_to_id(token) for token in (cls, sep))
    one, two = tokenizer.encode(""), tokenizer.encode("", "")
    wanted = [cls_id, sep_id], [cls_id, sep_id, sep_id], [0, 0, int(reads_types)]
    if (one.ids, two.ids, two.type_ids) == wanted:
        return
    processors = import_extra("tokenizers.processors", extra="hf")
    if reads_types:
        tokenizer.post_processor = processors.BertProcessing((sep, sep_id), (cls, cls_id))
    else:
        template = {"single": f"{cls} $A {sep}", "pair": f"{cls} $A {sep} $B:0 {sep}:0"}
        tokenizer.post_processor = processors.TemplateProcessing(
            **template, special_tokens=[(cls, cls_id), (sep, sep_id)]
        )


def write_tokenizer(tokenizer: Any, folder: Path, *, overwrite: bool) -> None:
    """Write a Tokenizer into `folder`: its files, each whole or not at all; a vocab.txt only for WordPiece.

    Raises: FileExistsError for another tokenizer there, unless `overwrite`.
    """
    text = tokenizer.library_tokenizer.to_str(pretty=True)
    texts = {"tokenizer.json": text}
    if json.loads(text)["model"]["type"] == "WordPiece":
        texts["vocab.txt"] = "".join(f"{token}\n" for token in tokenizer.tokens)
    for name, text in texts.items():
        if not overwrite and (folder / name).exists() and (folder / name).read_bytes() != text.encode():
            raise FileExistsError(f"{folder} already has another tokenizer; to replace it, give overwrite=True")
    for name, text in texts.items():
        with atomic_write(folder / name) as path:
            path.write_bytes(text.encode())
    with atomic_write(folder / CONFIG_FILE) as path:
        write_json(path, _config_of(tokenizer))


def _config_of(tokenizer: Any) -> dict[str, Any]:
    """Return the tokenizer_config.json of a Tokenizer."""
    stored = json.loads(tokenizer.library_tokenizer.to_str())
    normalizer, is_word_piece = stored["normalizer"] or {}, stored["model"]["type"] == "WordPiece"
    names = {name: of_library for name, (of_library, _) in NORMALIZER.items() if of_library in normalizer}
    config: dict[str, Any] = {name: normalizer[of_library] for name, of_library in names.items()}
    usual = SPECIAL
    if is_word_piece and normalizer.get("type", "BertNormalizer") == "BertNormalizer":
        config["tokenizer_class"] = BERT
    else:  # from vocab.txt transformers makes a BertTokenizer, which would clean a text differently
        inputs = INPUTS if tokenizer.reads_types else [name for name in INPUTS if name != "token_type_ids"]
        config |= {"tokenizer_class": AS_IT_IS, "model_input_names": inputs}
        usual = {}
    for name in ("unk_id", "sep_id", "pad_id", "cls_id", "mask_id"):
        if tokenizer.special[name] != usual.get(name):
            config[token_name(name)] = tokenizer.special[name]
    if tokenizer.truncation_side != "right":
        config["truncation_side"] = tokenizer.truncation_side
    if tokenizer.max_length is not None:
        config["model_max_length"] = tokenizer.max_length
    return config
