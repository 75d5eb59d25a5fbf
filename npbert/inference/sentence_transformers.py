"""The settings files of a sentence-transformers model."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from npbert.data.tokenizer_config import read_length
from npbert.io.files import FileError, atomic_write, parse_json, read_json_object, read_text, write_json
from npbert.io.messages import warn
from npbert.models.pooling import POOLINGS

MODULES_FILE = "modules.json"
_POOLINGS = {  # the flag of an older config.json of a Pooling, and its name in a newer one
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_TRANSFORMER = {  # the supported values of a sentence_bert_config.json, besides None and those that mean the same
    "transformer_task": "feature-extraction",
    "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
    "module_output_name": "token_embeddings",
}
_ANY_VALUE = ("max_seq_length", "do_lower_case", "unpad_inputs")


class SentenceSettings(NamedTuple):
    """How a sentence-transformers model computes the vector of a text.

    folder: of the BERT. max_length: the most tokens of a text; None: the tokenizer's.
    missing: unsupported settings, a phrase with the file for each; if there are any, `pooling` may be None.
    """

    folder: Path
    pooling: str | None
    normalize: bool
    max_length: int | None
    similarity_fn_name: str
    missing: list[str]

    def check_complete(self, *, is_chosen: bool) -> None:
        """Raise FileError for unsupported settings, or warn of them if a pooling is chosen."""
        what = "; ".join(self.missing)
        if what and not is_chosen:
            raise FileError(f"{what}; to use the model without it, give a pooling")
        if what:
            warn(f"{what}; the model is used without it")


def read_sentence_settings(folder: Path) -> SentenceSettings | None:
    """Return the settings of `folder`, or None without a modules.json.

    Warns: of prompts, which the caller adds to texts.
    Raises: FileError or OSError for a wrong file, or a model that is not a BERT.
    """
    if not (folder / MODULES_FILE).is_file():
        return None
    missing: list[str] = []
    (_, bert), *others = _modules(folder)
    pooling, normalize = None, False
    for kind, place in others:
        if kind == "Pooling" and pooling is None:
            pooling = _pooling(place / "config.json", missing)
        elif kind == "Normalize" and pooling is not None:
            normalize = True
            supported = dict.fromkeys(("module_input_name", "module_output_name"), "sentence_embedding")
            path = place / "config.json"
            missing += _unsupported(path, read_json_object(path, may_lack=True), supported)
        else:
            missing.append(f"{folder / MODULES_FILE}: npbert does not support the module {kind} in this place")
    if pooling is None:
        missing.append(f"{folder / MODULES_FILE}: Pooling is missing")
    max_length, similarity_fn_name = _max_length(bert, missing), _similarity_fn_name(folder, missing)
    return SentenceSettings(bert, pooling, normalize, max_length, similarity_fn_name, missing)


def write_sentence_settings(
    folder: Path, *, pooling: str, features: int, normalize: bool, max_length: int, similarity_fn_name: str
) -> None:
    """Write the settings into the BERT's `folder`, for every version of sentence-transformers."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling", **({"2_Normalize": "Normalize"} if normalize else {})}
    flags = {flag: name == pooling for flag, name in _POOLINGS.items()}
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(kinds.items())
    ]
    files: dict[str, Any] = {
        "1_Pooling/config.json": {"word_embedding_dimension": features, **flags},
        "sentence_bert_config.json": {"max_seq_length": max_length, "do_lower_case": False},
        "config_sentence_transformers.json": {"similarity_fn_name": similarity_fn_name},
        MODULES_FILE: modules,
    }
    for path in filter(None, kinds):
        if (folder / path).is_symlink():
            raise FileError(f"{folder / path} is a link, wanted a folder")
        (folder / path).mkdir(exist_ok=True)
    for name, content in files.items():
        with atomic_write(folder / name) as written:
            write_json(written, content)


def _modules(folder: Path) -> list[tuple[str, Path]]:
    """Return the class and folder of each module, the first a BERT. A class of sentence-transformers is without the
    package."""
    path = folder / MODULES_FILE
    entries = parse_json(read_text(path), str(path))
    if not (isinstance(entries, list) and entries):
        raise FileError(f"{path} is {json.dumps(entries)[:60]}, wanted a list of modules")
    modules = []
    for entry in entries:
        where, kind = (entry.get("path"), entry.get("type")) if isinstance(entry, dict) else (None, None)
        if not (isinstance(where, str) and isinstance(kind, str)):
            raise FileError(f'{path}: a module is {entry!r}, wanted an object with the strings "type" and "path"')
        if "\0" in where or not (folder / where).resolve().is_relative_to(folder.resolve()):
            raise FileError(f"{path}: the path of a module is {where!r}, wanted one inside the folder")
        package, _, name = kind.rpartition(".")
        modules.append((name if package.split(".")[0] == "sentence_transformers" else kind, folder / where))
    if modules[0][0] not in ("Transformer", "BERT"):
        raise FileError(f"{path}: the first module is {modules[0][0]}, wanted a Transformer")
    return modules


def _pooling(path: Path, missing: list[str]) -> str:
    stored = read_json_object(path)
    modes = stored.get("pooling_mode", [new for old, new in _POOLINGS.items() if stored.get(old)] or "mean")
    modes = [modes] if isinstance(modes, str) else modes
    if not (isinstance(modes, list) and modes and all(isinstance(mode, str) for mode in modes)):
        raise FileError(f"{path}: pooling_mode is {modes!r}, wanted a name or a list of names")
    if len(modes) > 1 or modes[0] not in POOLINGS:
        missing.append(f"{path}: npbert does not support the pooling {' + '.join(modes)}")
    if stored.get("include_prompt") is False:
        missing.append(f"{path}: npbert cannot exclude a prompt from the pooling")
    return modes[0]


def _unsupported(path: Path, stored: dict[str, Any], supported: dict[str, Any]) -> list[str]:
    """Return a phrase for each setting of a file with another value than the supported one."""
    return [
        f"{path}: {name} is {value!r}, which npbert does not support"
        for name, value in stored.items()
        if value and name in supported and value != supported[name]
    ]


def _max_length(folder: Path, missing: list[str]) -> int | None:
    """Return the most tokens of a text, and check the settings of the Transformer."""
    path = folder / "sentence_bert_config.json"
    stored = read_json_object(path, may_lack=True)
    unknown = dict.fromkeys(set(stored) - set(_ANY_VALUE))
    missing += _unsupported(path, stored, {**unknown, **_TRANSFORMER})
    tokenizer = read_json_object(folder / "tokenizer_config.json", may_lack=True)
    if stored.get("do_lower_case") and tokenizer.get("do_lower_case") is False:
        missing.append(f"{path}: do_lower_case is true, but the tokenizer keeps capital letters")
    return read_length(path, stored, "max_seq_length")


def _similarity_fn_name(folder: Path, missing: list[str]) -> str:
    """Return the similarity function, and warn of prompts."""
    path = folder / "config_sentence_transformers.json"
    stored = read_json_object(path, may_lack=True)
    missing += _unsupported(path, stored, {"model_type": "SentenceTransformer"})
    similarity_fn_name, prompts = stored.get("similarity_fn_name") or "cosine", stored.get("prompts") or {}
    if not isinstance(similarity_fn_name, str) or not isinstance(prompts, dict):
        raise FileError(f"{path}: wanted a name as similarity_fn_name, and an object as prompts")
    named = {name: text for name, text in prompts.items() if text}
    usual = stored.get("default_prompt_name")
    if usual in named:
        missing.append(f"{path}: npbert does not add the prompt {named[usual]!r} to every text")
    elif named:
        said = ", ".join(f"{name}: {text!r}" for name, text in named.items())
        warn(f"{path} has prompts; add them to your texts: {said}")
    return similarity_fn_name
