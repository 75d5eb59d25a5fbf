"""config.json: reads Hugging Face's, and writes a BertConfig."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import DTypeLike
from npbert.io.files import HOW_TO_DOWNLOAD, model_folder, read_json_object, write_json
from npbert.models.hugging_face.families import FAMILIES

CONFIG_FILE = "config.json"

_OURS_ALONE = (
    "num_labels",
    "position_embedding_type",
    "architecture",
)  # left out of the file, or written in Hugging Face's terms


def read_config(folder: str | Path) -> tuple[Path, dict[str, Any]]:
    """Return the path of `folder`/config.json, and the object in it.

    Raises: FileError for invalid JSON; FileNotFoundError for a missing folder or file.
    """
    path = model_folder(folder) / CONFIG_FILE
    if not path.is_file():
        what = f"it has no {CONFIG_FILE}" if path.parent.exists() else "it does not exist"
        raise FileNotFoundError(f"{folder} is not a checkpoint: {what} ({HOW_TO_DOWNLOAD})")
    return path, read_json_object(path)


def write_config(path: Path, config: Any, *, architecture: str, dtype: DTypeLike) -> None:
    """Write `config` to `path`, for a model of npbert's class `architecture` with parameters of `dtype`.

    For a descendant, entries of its original config.json stay, except those that npbert sets. Hugging Face has no
    sinusoidal positions: they are written as absolute ones.
    """
    stored = {
        name: value.item() if isinstance(value, np.generic) else value  # JSON has no NumPy numbers
        for name, value in asdict(config).items()
        if name not in _OURS_ALONE
    }
    model_type = config.architecture.model_type
    family = FAMILIES[model_type]
    if model_type == "bert":
        stored["position_embedding_type"] = "absolute"
    else:
        stored["max_position_embeddings"] += config.architecture.first_position
        known = {family.fields.get(name, name): value for name, value in stored.items() if name != "type_vocab_size"}
        stored = {**json.loads(config.architecture.file), **known}
    if architecture == "BertForSequenceClassification" and config.num_labels == 1:
        stored["problem_type"] = "regression"  # otherwise transformers' pipeline turns the number into a probability
    stored["id2label"] = {str(index): name for index, name in enumerate(config.label_names)}
    stored["label2id"] = config.label2id
    name = family.classes + architecture.removeprefix("Bert").removeprefix(family.classes)
    stored |= {"model_type": model_type, "architectures": [name], "dtype": np.dtype(dtype).name}
    write_json(path, stored)
