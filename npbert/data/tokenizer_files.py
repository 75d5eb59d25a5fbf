"""The library's tokenizers, out of Hugging Face's files: the vocabulary,
and the settings next to it, read as transformers reads them."""

import base64
import json
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

from npbert.io import FileError, import_extra, read_json, read_lines
from npbert.io.files import LARGEST_TOKENIZER

CONFIG_FILE = "tokenizer_config.json"
NO_LENGTH = 1_000_000
"""A longer model_max_length means no limit: transformers writes 10³⁰."""

SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
"""The default special tokens, by their settings."""

NORMALIZER = {  # by setting: the library's name, and the default
    "do_lower_case": ("lowercase", True),
    "strip_accents": ("strip_accents", None),
    "tokenize_chinese_chars": ("handle_chinese_chars", True),
}
INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
BERT, AS_IT_IS = "BertTokenizer", "PreTrainedTokenizer"
BERTS = (BERT, "DistilBertTokenizer", "ElectraTokenizer")
"""The classes with BERT's rules; those of the others are in the tokenizer.json."""
_ROBERTA = {
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "cls_token": "<s>",
    "sep_token": "</s>",
    "mask_token": "<mask>",
}
_USUAL = {  # the default special tokens of transformers' classes
    **dict.fromkeys((*BERTS, AS_IT_IS, "TokenizersBackend"), SPECIAL),
    **dict.fromkeys(("RobertaTokenizer", "XLMRobertaTokenizer", "CamembertTokenizer"), _ROBERTA),
    "MPNetTokenizer": {**_ROBERTA, "unk_token": "[UNK]"},
    "AlbertTokenizer": {**SPECIAL, "pad_token": "<pad>", "unk_token": "<unk>"},
}
MOST_GROWTH = 256
"""The most growth of a text by a normalizer: a few lines of JSON could ask for more than all memory."""


def read_settings(folder: Path) -> dict[str, Any]:
    """Return the entries of tokenizer_config.json and, if it lacks the added tokens, of special_tokens_map.json, and as
    `added_tokens` those of added_tokens.json. Each file may be missing. The `tokenizer_class` is without Fast; if it
    is missing, it is that of config.json, or the class for its model_type.

    Raises: FileError with the file and the setting for an unsupported value.
    """
    path = folder / CONFIG_FILE
    settings = read_json(path, may_lack=True)
    if "added_tokens_decoder" not in settings:
        settings |= read_json(folder / "special_tokens_map.json", may_lack=True)
        settings["added_tokens"] = read_json(folder / "added_tokens.json", may_lack=True)
    if settings.get("split_special_tokens"):
        raise FileError(f"{path}: split_special_tokens is {settings['split_special_tokens']!r}, wanted False")
    side = settings.get("truncation_side") or "right"
    if side not in ("left", "right"):
        raise FileError(f"{path}: truncation_side is {side!r}, wanted 'left' or 'right'")
    model = read_json(folder / "config.json", may_lack=True)
    of_type = f"{model.get('model_type')}Tokenizer".replace("-", "").lower()  # roberta-base names no class
    usual = next((each for each in _USUAL if each.lower() == of_type), BERT)
    name = str(settings.get("tokenizer_class") or model.get("tokenizer_class") or usual).removesuffix("Fast")
    if name not in _USUAL:
        raise FileError(f"{path}: tokenizer_class is {name!r}, wanted {', '.join(_USUAL)}")
    return {**settings, "tokenizer_class": name}


def find_tokens(settings: dict[str, Any], stored: dict[str, Any]) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Return the special tokens, by their settings; and the flags of all tokens that are found in a text before it is
    cleaned, by their content: the added ones in the order of their `id`, then the other special ones.

    stored: the object of the tokenizer.json. (A special token of added_tokens.json and special_tokens_map.json alone is
    found as written; transformers 5 also finds it in lower case.)

    Raises: ValueError for a special token that is not in the vocabulary.
    """
    usual = _USUAL[settings["tokenizer_class"]].items()
    special = {name: _flags(settings.get(name) or token) for name, token in usual}
    if "added_tokens_decoder" in settings:
        by_id = {int(number): token for number, token in settings["added_tokens_decoder"].items()}
    else:
        by_id = {number: {"content": token} for token, number in settings["added_tokens"].items()}
        by_id |= {token["id"]: token for token in stored["added_tokens"]}
    added = {token["content"]: {**token, "id": number} for number, token in sorted(by_id.items())}
    for token in special.values():
        if token["content"] not in added and token["content"] not in stored["model"]["vocab"]:
            raise ValueError(f"the vocabulary has no {token['content']}, wanted every special token")
    extra = settings.get("extra_special_tokens") or settings.get("additional_special_tokens") or []
    for token in [*special.values(), *map(_flags, extra.values() if isinstance(extra, dict) else extra)]:
        added[token["content"]] = {**token, **added.get(token["content"], {}), "special": True}
    return {name: token["content"] for name, token in special.items()}, added


def settings_of(tokenizer: Any, stored: dict[str, Any]) -> dict[str, Any]:
    """Return the tokenizer_config.json of a Tokenizer. stored: the object of its tokenizer.json."""
    normalizer = stored["normalizer"] or {}
    # From vocab.txt transformers makes a BertTokenizer, which would clean a text differently.
    is_bert = (stored["model"]["type"], normalizer.get("type")) == ("WordPiece", "BertNormalizer")
    return {
        **{name: normalizer[theirs] for name, (theirs, _) in NORMALIZER.items() if theirs in normalizer},
        **tokenizer.special,
        "tokenizer_class": BERT if is_bert else f"{AS_IT_IS}Fast",
        "model_input_names": INPUTS if tokenizer.has_types else [INPUTS[0], INPUTS[2]],
        "truncation_side": tokenizer.truncation_side,
        "model_max_length": tokenizer.max_length,
    }


def read_length(path: Path, stored: dict[str, Any], name: str) -> int | None:
    """Return the most tokens of a text from the entry `name` of the object in `path`; None for no limit.

    Raises: FileError with file and entry unless it is a whole number of at least 1.
    """
    value = stored.get(name)
    if isinstance(value, int | float) and value > NO_LENGTH:
        return None
    if value is not None and (type(value) is not int or value < 1):
        raise FileError(f"{path}: {name} is {value!r}, wanted a whole number of tokens, at least 1")
    return value


def _flags(token: str | dict[str, Any]) -> dict[str, Any]:
    """Return a token, which may be a text alone, with its flags."""
    return token if isinstance(token, dict) else {"content": token}


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
        stored = read_json(path, most=LARGEST_TOKENIZER)
    elif is_bert:
        ids = {token: number for number, token in enumerate(read_lines(path))}
        stored = {"model": {"vocab": ids}, "added_tokens": []}
    else:
        raise FileError(f"{folder / CONFIG_FILE}: its tokenizer_class needs a tokenizer.json")
    kind = stored["model"].get("type", "WordPiece")
    kinds = ["WordPiece"] if is_bert else ["WordPiece", "BPE", "Unigram"]
    if kind not in kinds:
        raise ValueError(f"its model is {kind}, wanted {' or '.join(kinds)}")
    special, added = find_tokens(settings, stored)
    if is_bert:
        normalizer = {of_library: settings.get(name, usual) for name, (of_library, usual) in NORMALIZER.items()}
        ids = {token: added[token]["id"] for token in special.values() if "id" in added[token]}
        tokenizer = library.BertWordPieceTokenizer({**ids, **stored["model"]["vocab"]}, **special, **normalizer)
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
