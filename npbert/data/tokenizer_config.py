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
BERT, AS_IT_IS = "BertTokenizer", "PreTrainedTokenizerFast"
"""The classes of transformers: with the rules of BERT, and with those of a tokenizer.json."""

INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
_ROBERTA = {"pad_id": "<pad>", "unk_id": "<unk>", "cls_id": "<s>", "sep_id": "</s>", "mask_id": "<mask>"}
_OF_DESCENDANTS = {  # their default special tokens; their rules are in the tokenizer.json
    **dict.fromkeys(("RobertaTokenizer", "XLMRobertaTokenizer", "CamembertTokenizer"), _ROBERTA),
    "MPNetTokenizer": {**_ROBERTA, "unk_id": "[UNK]"},
    "AlbertTokenizer": {**SPECIAL, "pad_id": "<pad>", "unk_id": "<unk>"},
}
_OTHER_NAMES = {
    **dict.fromkeys(("DistilBertTokenizer", "ElectraTokenizer"), BERT),
    **dict.fromkeys(("TokenizersBackend", AS_IT_IS.removesuffix("Fast"), *_OF_DESCENDANTS), AS_IT_IS),
}
_POSSIBLE = {
    "padding_side": ("right", None),
    "split_special_tokens": (False, None),
    "truncation_side": ("right", "left", None),
    "do_lower_case": (True, False),
    "strip_accents": (True, False, None),
    "tokenize_chinese_chars": (True, False),
}


class TokenizerConfig:
    """tokenizer_config.json, special_tokens_map.json and added_tokens.json in a folder. Each may be missing.

    settings: the entries of the first, and of the second if the first lacks the added tokens. tokenizer_class: BERT or
    AS_IT_IS. special: the special tokens, by the attribute for their id. max_length: model_max_length.

    Raises: FileError with the file and the setting for an impossible or unsupported value.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / CONFIG_FILE
        self.settings = read_json_object(self.path, may_lack=True)
        self._read_special_tokens()
        for name, possible in _POSSIBLE.items():
            value = self.settings.get(name, possible[0])
            if not any(value is each or (value == each and isinstance(value, str)) for each in possible):
                wanted = " or ".join(repr(each) for each in possible if each is not None)
                raise FileError(f"{self.path}: {name} is {value!r}, wanted {wanted}")
        of_model = read_json_object(folder / "config.json", may_lack=True).get("tokenizer_class")
        name = str(self.settings.get("tokenizer_class") or of_model or BERT).removesuffix("Fast")
        self.tokenizer_class = _OTHER_NAMES.get(name, name)
        if self.tokenizer_class not in (BERT, AS_IT_IS):
            known = ", ".join([BERT, AS_IT_IS, *_OF_DESCENDANTS])
            raise FileError(f"{self.path}: tokenizer_class is {name!r}, wanted {known}")
        self._usual = _OF_DESCENDANTS.get(name, SPECIAL)
        self.special = {}
        for key, usual in self._usual.items():
            token = self.settings.get(token_name(key), usual)
            if not isinstance(token, str | dict):
                raise FileError(f"{self.path}: {token_name(key)} is {token!r}, wanted a token of the vocabulary")
            self.special[key] = _content(token)
        length = "max_len" if "model_max_length" not in self.settings else "model_max_length"
        self.max_length = read_length(self.path, self.settings, length)

    def _read_special_tokens(self) -> None:
        settings = self.settings
        settings["extra_special_tokens"] = _values(
            settings.get("extra_special_tokens") or settings.pop("additional_special_tokens", None)
        )
        if "added_tokens_decoder" not in settings:
            more = read_json_object(self.folder / "special_tokens_map.json", may_lack=True)
            more["extra_special_tokens"] = settings["extra_special_tokens"] + _values(more.get("extra_special_tokens"))
            settings |= more

    @property
    def reads_types(self) -> bool:
        """False if the model gets no token types: all are 0."""
        return "token_type_ids" in (self.settings.get("model_input_names") or INPUTS)

    def added_tokens(self, stored: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the tokens that are found in a text before it is cleaned, with their flags, in the order of their ids;
        then the other special tokens. stored: the object of the tokenizer.json."""
        named = self._named_tokens()
        extra = self.settings["extra_special_tokens"]
        added = self._listed_tokens(stored, set(map(_content, [*named, *extra])))
        for token in named:
            if _content(token) not in added and _content(token) not in stored["model"]["vocab"]:
                raise ValueError(f"the vocabulary has no {_content(token)}, wanted every special token")
        for token in [*named, *(extra or _values(self.settings.get("additional_special_tokens")))]:
            flags = token if isinstance(token, dict) else {"content": token, "normalized": False}
            added.setdefault(_content(token), {**flags, "special": True})
        for token in named:
            added[_content(token)] = {**added[_content(token)], "special": True}
        return [
            {name: value for name, value in flags.items() if name not in ("id", "__type")} for flags in added.values()
        ]

    def _named_tokens(self) -> list[Any]:
        """Return the tokens of settings like cls_token: texts, or objects with flags."""
        usual = {token_name(name): token for name, token in self._usual.items()}
        settings = {**usual, **self.settings}
        return [token for name, token in settings.items() if name.endswith("_token") and not isinstance(token, bool)]

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


def token_name(attribute: str) -> str:
    """Return the setting for a special token: cls_token for cls_id."""
    return attribute.replace("_id", "_token")


def read_length(path: Path, stored: dict[str, Any], name: str) -> int | None:
    """Return the most tokens of a text from the entry `name` of the object in `path`; None for no limit.

    Raises: FileError with file and entry unless it is a whole number of at least 1.
    """
    value = stored.get(name)
    if isinstance(value, int | float) and value > NO_LENGTH:
        return None
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise FileError(f"{path}: {name} is {value!r}, wanted a whole number of tokens, at least 1")
    return value


def _content(token: Any) -> str:
    """Return the text of a token, which may be an object with flags."""
    text = token.get("content") if isinstance(token, dict) else token
    if not isinstance(text, str):
        raise ValueError(f"a special token is {token!r:.60}, wanted a text")
    return text


def _values(tokens: dict[str, Any] | list[Any] | None) -> list[Any]:
    return list(tokens.values() if isinstance(tokens, dict) else tokens or [])
