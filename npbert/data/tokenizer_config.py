"""TokenizerConfig: the settings of a tokenizer in the files next to its vocabulary, read as transformers reads them."""

from pathlib import Path
from typing import Any

from npbert.io.files import FileError, read_json_object

CONFIG_FILE = "tokenizer_config.json"
NO_LENGTH = 1_000_000
"""A longer model_max_length means no limit: transformers writes 10³⁰."""

SPECIAL = {"pad_id": "[PAD]", "unk_id": "[UNK]", "cls_id": "[CLS]", "sep_id": "[SEP]", "mask_id": "[MASK]"}
"""The default special tokens, by the attribute of a Tokenizer."""

NORMALIZER = {  # by setting: the library's name, and the default
    "do_lower_case": ("lowercase", True),
    "strip_accents": ("strip_accents", None),
    "tokenize_chinese_chars": ("handle_chinese_chars", True),
}
INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
BERT, AS_IT_IS = "BertTokenizer", "PreTrainedTokenizer"
_ROBERTA = {"pad_id": "<pad>", "unk_id": "<unk>", "cls_id": "<s>", "sep_id": "</s>", "mask_id": "<mask>"}
_CLASSES = {  # of transformers: with BERT's rules, or those of the tokenizer.json; and the default special tokens
    **dict.fromkeys((BERT, "DistilBertTokenizer", "ElectraTokenizer"), (True, SPECIAL)),
    **dict.fromkeys((AS_IT_IS, "TokenizersBackend"), (False, SPECIAL)),
    **dict.fromkeys(("RobertaTokenizer", "XLMRobertaTokenizer", "CamembertTokenizer"), (False, _ROBERTA)),
    "MPNetTokenizer": (False, {**_ROBERTA, "unk_id": "[UNK]"}),
    "AlbertTokenizer": (False, {**SPECIAL, "pad_id": "<pad>", "unk_id": "<unk>"}),
}
_POSSIBLE = {
    "padding_side": ("right", None),
    "split_special_tokens": (False, None),
    "truncation_side": ("right", "left", None),
}


class TokenizerConfig:
    """tokenizer_config.json, special_tokens_map.json and added_tokens.json in a folder. Each may be missing.

    settings: the entries of the first, and of the second if the first lacks the added tokens. is_bert: with BERT's
    rules, not with those of a tokenizer.json. special: the special tokens, by the attribute for their id. max_length:
    model_max_length. reads_types: False if the model gets no token types.

    Raises: FileError with the file and the setting for an impossible or unsupported value.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / CONFIG_FILE
        self.settings = settings = read_json_object(self.path, may_lack=True)
        self._extra = _values(settings.get("extra_special_tokens") or settings.get("additional_special_tokens"))
        if "added_tokens_decoder" not in settings:
            more = read_json_object(folder / "special_tokens_map.json", may_lack=True)
            self._extra += _values(more.get("extra_special_tokens"))
            settings |= more
        for name, possible in _POSSIBLE.items():
            if settings.get(name, possible[0]) not in possible:
                wanted = " or ".join(repr(each) for each in possible if each is not None)
                raise FileError(f"{self.path}: {name} is {settings[name]!r}, wanted {wanted}")
        of_model = read_json_object(folder / "config.json", may_lack=True).get("tokenizer_class")
        name = str(settings.get("tokenizer_class") or of_model or BERT).removesuffix("Fast")
        if name not in _CLASSES:
            raise FileError(f"{self.path}: tokenizer_class is {name!r}, wanted {', '.join(_CLASSES)}")
        self.is_bert, usual = _CLASSES[name]
        self._named = {_setting_of(key): token for key, token in usual.items()}
        self._named |= {
            name: token for name, token in settings.items() if name.endswith("_token") and not isinstance(token, bool)
        }
        for name, token in self._named.items():
            if not isinstance(token, str | dict):
                raise FileError(f"{self.path}: {name} is {token!r}, wanted a token of the vocabulary")
        self.special = {key: _content(self._named[_setting_of(key)]) for key in usual}
        length = "max_len" if "model_max_length" not in settings else "model_max_length"
        self.max_length = read_length(self.path, settings, length)
        self.reads_types = "token_type_ids" in (settings.get("model_input_names") or INPUTS)

    def added_tokens(self, stored: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the tokens that are found in a text before it is cleaned, with their flags, in the order of their ids;
        then the other special tokens. stored: the object of the tokenizer.json."""
        added = self._listed_tokens(stored, set(map(_content, [*self._named.values(), *self._extra])))
        for token in self._named.values():
            if _content(token) not in added and _content(token) not in stored["model"]["vocab"]:
                raise ValueError(f"the vocabulary has no {_content(token)}, wanted every special token")
        extra = self._extra or _values(self.settings.get("additional_special_tokens"))
        for token in [*self._named.values(), *extra]:
            flags = token if isinstance(token, dict) else {"content": token, "normalized": False}
            added.setdefault(_content(token), {**flags, "special": True})
        for token in self._named.values():
            added[_content(token)] = {**added[_content(token)], "special": True}
        return [
            {name: value for name, value in flags.items() if name not in ("id", "__type")} for flags in added.values()
        ]

    def _listed_tokens(self, stored: dict[str, Any], special: set[str]) -> dict[str, dict[str, Any]]:
        """Return the added tokens of the configuration, or else of added_tokens.json and tokenizer.json, by their
        text."""
        by_id: dict[int, dict[str, Any]] = {}
        if "added_tokens_decoder" in self.settings:
            by_id = {int(number): token for number, token in self.settings["added_tokens_decoder"].items()}
        else:
            for token, number in read_json_object(self.folder / "added_tokens.json", may_lack=True).items():
                by_id[number] = {"content": token, "normalized": token not in special, "special": token in special}
            by_id |= {token["id"]: token for token in stored["added_tokens"]}
        return {token["content"]: token for _, token in sorted(by_id.items())}

    @staticmethod
    def of(tokenizer: Any, stored: dict[str, Any]) -> dict[str, Any]:
        """Return the tokenizer_config.json of a Tokenizer. stored: the object of its tokenizer.json."""
        normalizer = stored["normalizer"] or {}
        names = {name: of_library for name, (of_library, _) in NORMALIZER.items() if of_library in normalizer}
        config: dict[str, Any] = {name: normalizer[of_library] for name, of_library in names.items()}
        # From vocab.txt transformers makes a BertTokenizer, which would clean a text differently.
        kinds = stored["model"]["type"], normalizer.get("type", "BertNormalizer")
        is_bert = kinds == ("WordPiece", "BertNormalizer")
        config["tokenizer_class"] = BERT if is_bert else f"{AS_IT_IS}Fast"
        config["model_input_names"] = INPUTS if tokenizer.reads_types else [INPUTS[0], INPUTS[2]]
        config |= {_setting_of(name): token for name, token in tokenizer.special.items()}
        if tokenizer.truncation_side != "right":
            config["truncation_side"] = tokenizer.truncation_side
        if tokenizer.max_length is not None:
            config["model_max_length"] = tokenizer.max_length
        return config


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


def _setting_of(attribute: str) -> str:
    """Return the setting for a special token: cls_token for cls_id."""
    return attribute.replace("_id", "_token")


def _content(token: Any) -> str:
    """Return the text of a token, which may be an object with flags."""
    text: str = token["content"] if isinstance(token, dict) else token
    return text


def _values(tokens: dict[str, Any] | list[Any] | None) -> list[Any]:
    return list(tokens.values() if isinstance(tokens, dict) else tokens or [])
