"""The settings files of a sentence-transformers model."""

from pathlib import Path
from typing import Any

from npbert.data.tokenizer_files import read_length
from npbert.io import FileError, model_folder, read_json, warn, write_json
from npbert.models import POOLINGS, load_config

MODULES_FILE = "modules.json"
_TRANSFORMER_FILE, _WHOLE_FILE = "sentence_bert_config.json", "config_sentence_transformers.json"
_POOLINGS = {  # the flag of an older config.json of a Pooling, and its name in a newer one
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


def read_sentence_settings(folder: str | Path, *, is_chosen: bool) -> tuple[Path, dict[str, Any]]:
    """Return the folder of the BERT, and the options of Embed, of the model in `folder`; no options without a
    modules.json.

    is_chosen: True if the caller chooses the pooling.
    Warns: of prompts, which the caller adds to texts; of unsupported settings if a pooling is chosen.
    Raises: FileError for unsupported settings otherwise, for a wrong file, or a model that is not a BERT; OSError.
    """
    options: dict[str, Any] = {}
    folder = model_folder(folder)
    path = folder / MODULES_FILE
    if not path.is_file():
        return folder, options
    missing: list[str] = []  # unsupported settings, a phrase with the file for each
    (_, bert), *others = _modules(path)
    for kind, place in others:
        if kind == "Pooling" and not options:
            config = place / "config.json"
            stored = read_json(config)
            flagged = [name for flag, name in _POOLINGS.items() if stored.get(flag)]
            modes = stored.get("pooling_mode", flagged or "mean")
            pooling = " + ".join(map(str, modes)) if isinstance(modes, list) else str(modes)
            if pooling not in POOLINGS:
                missing.append(f"{config}: npbert does not support the pooling {pooling}")
            if stored.get("include_prompt") is False:
                missing.append(f"{config}: npbert cannot exclude a prompt from the pooling")
            options["pooling"] = pooling
        elif kind == "Normalize" and options:
            options["normalize"] = True
        else:
            missing.append(f"{path}: npbert does not support the module {kind} in this place")
    if not options:
        missing.append(f"{path}: Pooling is missing")
    _read_other_files(folder, bert, options, missing)
    what = "; ".join(missing)
    if what and not is_chosen:
        raise FileError(f"{what}; to use the model without it, give a pooling")
    if what:
        warn(f"{what}; the model is used without it")
    return bert, options


def write_sentence_settings(folder: Path, embed: Any) -> None:
    """Write the settings of an Embed into the BERT's `folder`, for every version of sentence-transformers."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling"}
    if embed.normalize:
        kinds["2_Normalize"] = "Normalize"
    flags = {flag: name == embed.pooling for flag, name in _POOLINGS.items()}
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(kinds.items())
    ]
    files = {
        "1_Pooling/config.json": {"word_embedding_dimension": embed.model.config.hidden_size, **flags},
        _TRANSFORMER_FILE: {"max_seq_length": embed.max_length},
        _WHOLE_FILE: {"similarity_fn_name": embed.similarity_fn_name},
        MODULES_FILE: modules,
    }
    for path in filter(None, kinds):
        if (folder / path).is_symlink():
            raise FileError(f"{folder / path} is a link, wanted a folder")
        (folder / path).mkdir(exist_ok=True)
    for name, content in files.items():
        write_json(folder / name, content)


def _modules(path: Path) -> list[tuple[str, Path]]:
    """Return the class and folder of each module, the first a BERT. A class of sentence-transformers is without the
    package."""
    folder, modules = path.parent, []
    for entry in read_json(path, list):
        match entry:
            case {"path": str(where), "type": str(kind)}:
                name = kind.rpartition(".")[2] if kind.startswith("sentence_transformers.") else kind
                modules.append((name, folder / where))
            case _:
                raise FileError(f'{path}: a module is {entry!r}, wanted an object with the strings "type" and "path"')
        if "\0" in where or not (folder / where).resolve().is_relative_to(folder.resolve()):
            raise FileError(f"{path}: the path of a module is {where!r}, wanted one inside the folder")
    kinds = [kind for kind, _ in modules]
    if kinds[:1] not in (["Transformer"], ["BERT"]):
        raise FileError(f"{path}: the modules are {kinds}, wanted a Transformer first")
    return modules


def _read_other_files(folder: Path, bert: Path, options: dict[str, Any], missing: list[str]) -> None:
    """Read the most tokens of a text and the similarity function, check the settings of the Transformer in `bert`, and
    warn of prompts."""
    path = bert / _TRANSFORMER_FILE
    stored = read_json(path, may_lack=True)
    tokenizer = read_json(bert / "tokenizer_config.json", may_lack=True)
    if stored.get("do_lower_case") and tokenizer.get("do_lower_case") is False:
        missing.append(f"{path}: do_lower_case is true, but the tokenizer keeps capital letters")
    if length := read_length(path, stored, "max_seq_length"):
        options["max_length"] = min(length, load_config(bert).max_position_embeddings)

    path = folder / _WHOLE_FILE
    stored = read_json(path, may_lack=True)
    options["similarity_fn_name"] = stored.get("similarity_fn_name") or "cosine"
    prompts, usual = stored.get("prompts"), str(stored.get("default_prompt_name"))
    named = {name: text for name, text in prompts.items() if text} if isinstance(prompts, dict) else {}
    if usual in named:
        missing.append(f"{path}: npbert does not add the prompt {named[usual]!r} to every text")
    elif named:
        warn(f"{path} has prompts; add them to your texts: {named}")
