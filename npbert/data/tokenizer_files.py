"""The files of a tokenizer, as Hugging Face has them, read as transformers reads them: tokenizer.json or vocab.txt, and
what tokenizer_config.json, special_tokens_map.json and added_tokens.json say besides."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from npbert.data.library_tokenizer import tokenizer_from
from npbert.io.extras import import_extra
from npbert.io.files import (
    HOW_TO_DOWNLOAD,
    FileError,
    atomic_write,
    model_folder,
    parse_json,
    read_json_object,
    read_text,
    write_json,
)

CONFIG_FILE = "tokenizer_config.json"
NO_LENGTH = 1_000_000
"""A longer model_max_length means that there is none: transformers writes 10³⁰ then."""

SPECIAL = {"pad_id": "[PAD]", "unk_id": "[UNK]", "cls_id": "[CLS]", "sep_id": "[SEP]", "mask_id": "[MASK]"}
"""The special tokens, where the files name no others, by the attribute of a Tokenizer."""

_NORMALIZER = {  # by the setting of the files: the library's, and the value where the files do not say it
    "do_lower_case": ("lowercase", True),
    "strip_accents": ("strip_accents", None),
    "tokenize_chinese_chars": ("handle_chinese_chars", True),
}
_BERT, _AS_IT_IS = ("BertTokenizer", "DistilBertTokenizer"), ("PreTrainedTokenizerFast", "TokenizersBackend")
_INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
_ONLY = {"padding_side": "right", "split_special_tokens": False}  # with other values, ids would differ


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


class Settings(NamedTuple):
    """A tokenizer besides its vocabulary and its rules: the special tokens, by the attribute for their id, the most
    tokens of a text, if any, and the side from which more are cut, left or right."""

    special: dict[str, str] = SPECIAL
    max_length: int | None = None
    truncation_side: str = "right"


def find_tokenizer(folder: Path) -> Path:
    """The path of tokenizer.json in `folder`, or else of vocab.txt. Raises: FileNotFoundError when there is neither."""
    folder = model_folder(folder)
    for path in (folder / "tokenizer.json", folder / "vocab.txt"):
        if path.is_file():
            return path
    what = "has no tokenizer.json and no vocab.txt" if folder.is_dir() else f"is not a folder ({HOW_TO_DOWNLOAD})"
    raise FileNotFoundError(f"{folder} {what}")


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


def read_tokenizer(path: Path) -> tuple[Any, Settings]:
    """The library's tokenizer from a tokenizer.json or a vocab.txt, with what the files beside it say.

    A BertTokenizer, the usual class, has the vocabulary and the added tokens of the file, and the rules of BERT with
    the settings of the configuration, whatever rules are in the file; a PreTrainedTokenizerFast is the file as it is.

    Raises: FileError when a file is not UTF-8, or has a setting that is none, or that npbert does not honor;
    ValueError, or what the library raises, when there is no WordPiece in it, or its normalizer makes a text more than
    MOST_GROWTH times as long.
    """
    folder = path.parent
    config = _read_config(folder)
    is_bert = _is_bert(folder, config)
    special = {name: _content(config.get(_token(name), token)) for name, token in SPECIAL.items()}
    if path.name == "vocab.txt":
        stored = _bert(_numbered(read_text(path).replace("\r\n", "\n").removesuffix("\n").split("\n")))
        if not is_bert:
            raise FileError(f"{folder}: {config['tokenizer_class']} needs a tokenizer.json, and there is none")
    else:
        stored = parse_json(read_text(path), str(path))
    model_type = stored["model"].get("type", "WordPiece")
    if model_type != "WordPiece":
        raise ValueError(f"its model is {model_type}, wanted WordPiece")
    added = _added_tokens(folder, config, stored)
    if is_bert:
        rules = _bert(stored["model"]["vocab"], unk_token=special["unk_id"], **_normalizer(folder, config))
        stored |= {name: rules[name] for name in ("model", "normalizer", "pre_tokenizer", "added_tokens")}
    tokenizer = tokenizer_from(stored, str(path))
    tokenizer.add_tokens([import_extra("tokenizers", extra="hf").AddedToken(**flags) for flags in added])
    reads_types = "token_type_ids" in (config.get("model_input_names") or _INPUTS)
    if is_bert:
        _put_special_tokens_around(tokenizer, special, reads_types=reads_types)
    elif not reads_types:
        raise FileError(f"{folder / CONFIG_FILE}: model_input_names lacks token_type_ids, which the tokenizer.json has")
    side = ((stored.get("truncation") or {}).get("direction") or "right").lower()
    return tokenizer, Settings(special, _max_length(folder, config), config.get("truncation_side") or side)


def bert_tokenizer(tokens: Sequence[str], *, lowercase: bool = True) -> Any:
    """The library's tokenizer with BERT's rules, the tokens with their places as ids, and those of SPECIAL among them.

    Raises: ValueError for a token that is there twice, or a special one that is not.
    """
    tokenizer = tokenizer_from(_bert(_numbered(tokens), lowercase=lowercase), "the vocabulary")
    tokenizer.add_special_tokens([token for token in SPECIAL.values() if token in tokens])
    _put_special_tokens_around(tokenizer, SPECIAL)
    return tokenizer


def _bert(vocabulary: Mapping[str, int], *, unk_token: str = SPECIAL["unk_id"], **normalizer: Any) -> dict[str, Any]:
    """The object of a tokenizer.json with BERT's rules, as transformers makes it."""
    usual = dict(_NORMALIZER.values())
    model = {"type": "WordPiece", "unk_token": unk_token, "continuing_subword_prefix": "##"}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, **usual, **normalizer},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {**model, "max_input_chars_per_word": 100, "vocab": vocabulary},
    }


def _numbered(tokens: Sequence[str]) -> dict[str, int]:
    """The ids of the tokens. Raises: ValueError for a token that is there twice."""
    vocabulary = {token: index for index, token in enumerate(tokens)}
    if len(vocabulary) < len(tokens):
        twice = next(token for index, token in enumerate(tokens) if vocabulary[token] != index)
        raise ValueError(f"{twice!r} is in it twice")
    return vocabulary


def _read_config(folder: Path) -> dict[str, Any]:
    """tokenizer_config.json, with special_tokens_map.json where it has not the added tokens itself."""
    path = folder / CONFIG_FILE
    config = read_json_object(path, may_lack=True)
    config["extra_special_tokens"] = config.get("extra_special_tokens") or config.pop("additional_special_tokens", None)
    if "added_tokens_decoder" not in config:
        more = read_json_object(folder / "special_tokens_map.json", may_lack=True)
        extra = [*_values(config["extra_special_tokens"]), *_values(more.get("extra_special_tokens"))]
        config |= {**more, "extra_special_tokens": extra}
    for name, only in _ONLY.items():
        if config.get(name, only) not in (only, None):
            raise FileError(f"{path}: {name} is {config[name]!r}, and npbert has only {only!r}")
    if config.get("truncation_side") not in (None, "right", "left"):
        raise FileError(f"{path}: truncation_side is {config['truncation_side']!r}, wanted 'right' or 'left'")
    return config


def _is_bert(folder: Path, config: dict[str, Any]) -> bool:
    """False for the class that takes tokenizer.json as it is. Raises: FileError for a class of another model."""
    of_model = read_json_object(folder / "config.json", may_lack=True).get("tokenizer_class")
    name = config.setdefault("tokenizer_class", of_model) or _BERT[0]
    if name not in _AS_IT_IS and str(name).removesuffix("Fast") not in _BERT:
        only = " and ".join([_BERT[0], _AS_IT_IS[0]])
        raise FileError(f"{folder / CONFIG_FILE}: tokenizer_class is {name!r}, and npbert has only {only}")
    return name not in _AS_IT_IS


def _max_length(folder: Path, config: dict[str, Any]) -> int | None:
    name = "max_len" if "model_max_length" not in config else "model_max_length"
    return read_length(folder / CONFIG_FILE, config, name)


def _token(attribute: str) -> str:
    """cls_token, say, for cls_id."""
    return attribute.replace("_id", "_token")


def _content(token: Any) -> str:
    """The text of a token, which may be an object with flags."""
    text = token.get("content") if isinstance(token, dict) else token
    if not isinstance(text, str):
        raise ValueError(f"a special token is {token!r:.60}, wanted a text")
    return text


def _values(tokens: dict[str, Any] | list[Any] | None) -> list[Any]:
    return list(tokens.values() if isinstance(tokens, dict) else tokens or [])


def _added_tokens(folder: Path, config: dict[str, Any], stored: dict[str, Any]) -> list[dict[str, Any]]:
    """The tokens that are found in a text before it is cleaned, with their flags, in the order of their ids; then the
    special tokens that are not among them."""
    usual = {_token(name): token for name, token in SPECIAL.items()}
    named = [
        token for name, token in (usual | config).items() if name.endswith("_token") and not isinstance(token, bool)
    ]
    extra = _values(config["extra_special_tokens"])
    by_id: dict[int, dict[str, Any]] = {}
    if "added_tokens_decoder" in config:
        by_id = {int(number): token for number, token in config["added_tokens_decoder"].items()}
    else:
        special = set(map(_content, [*named, *extra]))
        for token, number in read_json_object(folder / "added_tokens.json", may_lack=True).items():
            by_id[number] = {"content": token, "normalized": token not in special, "special": token in special}
        by_id |= {token["id"]: token for token in stored["added_tokens"]}
    added = {token["content"]: token for _, token in sorted(by_id.items())}
    for token in [*named, *(extra or _values(config.get("additional_special_tokens")))]:
        flags = token if isinstance(token, dict) else {"content": token, "normalized": False}
        added.setdefault(_content(token), {**flags, "special": True})
    for token in map(_content, named):
        added[token] = {**added[token], "special": True}
        if token not in stored["model"]["vocab"] and token not in [each["content"] for each in by_id.values()]:
            raise ValueError(f"the vocabulary has no {token}")
    return [{name: value for name, value in flags.items() if name not in ("id", "__type")} for flags in added.values()]


def _put_special_tokens_around(tokenizer: Any, special: Mapping[str, str], *, reads_types: bool = True) -> None:
    """See to it that texts become `[CLS] text [SEP]`, and pairs `[CLS] first [SEP] second [SEP]`, with type 1 from the
    second on where the model reads types. Where the file does so in its own words, they stay."""
    cls, sep = special["cls_id"], special["sep_id"]
    ids = {token: tokenizer.token_to_id(token) for token in (cls, sep)}
    if None in ids.values():
        raise ValueError(f"the vocabulary has no {cls if ids[cls] is None else sep}")
    one, two = tokenizer.encode(""), tokenizer.encode("", "")
    wanted = [ids[cls], ids[sep]], [ids[cls], ids[sep], ids[sep]], [0, 0, int(reads_types)]
    if (one.ids, two.ids, two.type_ids) == wanted:
        return
    processors = import_extra("tokenizers.processors", extra="hf")
    if reads_types:
        tokenizer.post_processor = processors.BertProcessing((sep, ids[sep]), (cls, ids[cls]))
    else:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{cls} $A {sep}", pair=f"{cls} $A {sep} $B:0 {sep}:0", special_tokens=list(ids.items())
        )


def _normalizer(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    """The treatment of capital letters, accents and Chinese characters."""
    settings = {}
    for name, (of_library, usual) in _NORMALIZER.items():
        value = config.get(name, usual)
        if not (isinstance(value, bool) or (value is None and name == "strip_accents")):
            raise FileError(f"{folder / CONFIG_FILE}: {name} is {value!r}, wanted true or false")
        settings[of_library] = value
    return settings


def write_tokenizer(
    tokenizer: Any, tokens: Sequence[str], settings: Settings, folder: Path, *, overwrite: bool
) -> None:
    """Write the library's tokenizer into `folder`: all three files, each whole or not at all.

    Raises: FileExistsError where another one is, unless `overwrite`.
    """
    normalizer = json.loads(tokenizer.to_str())["normalizer"] or {}
    config: dict[str, Any] = {
        name: normalizer[of_library] for name, (of_library, _) in _NORMALIZER.items() if of_library in normalizer
    }
    is_bert = not normalizer or normalizer["type"] == "BertNormalizer"
    # transformers makes a BertTokenizer from vocab.txt, and would not clean a text in its own way
    config["tokenizer_class"] = _BERT[0] if is_bert else _AS_IT_IS[0]
    if not is_bert:
        config["model_input_names"] = _INPUTS
    for name in ("unk_id", "sep_id", "pad_id", "cls_id", "mask_id"):
        if not is_bert or settings.special[name] != SPECIAL[name]:
            config[_token(name)] = settings.special[name]
    if settings.truncation_side != "right":
        config["truncation_side"] = settings.truncation_side
    if settings.max_length is not None:
        config["model_max_length"] = settings.max_length
    texts = {"tokenizer.json": tokenizer.to_str(pretty=True), "vocab.txt": "".join(f"{token}\n" for token in tokens)}
    for name, text in texts.items():
        if not overwrite and (folder / name).exists() and (folder / name).read_bytes() != text.encode():
            raise FileExistsError(f"{folder} holds another tokenizer; overwrite=True replaces it")
    for name, text in texts.items():
        with atomic_write(folder / name) as path:
            path.write_bytes(text.encode())
    with atomic_write(folder / CONFIG_FILE) as path:
        write_json(path, config)


def check_room(max_length: int | None) -> None:
    """Raise ValueError for a max_length with no room for a token of each text of a pair."""
    if max_length is not None and max_length < 5:
        raise ValueError(f"max_length is {max_length}, wanted at least 5: a pair has 3 special tokens")
