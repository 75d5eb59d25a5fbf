"""FAMILIES: BERT and its descendants, with their tensor names and the settings of their config.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npbert.models.architecture import Architecture
from npbert.models.hugging_face import tables

Settings = dict[str, Any]


@dataclass(frozen=True)
class Family:
    """A `model_type` of config.json: a row of families.json.

    classes: the beginning of its class names (`RobertaFor…`).   prefix: of its tensors in a model with a head.
    tables: its tables of tensor names in tables.py.   decoder: the tensors of a tied decoder, with their twins.
    fields: config.json's names of BertConfig's fields, if they differ.
    settings: defaults of missing settings, if they are not BERT's.   fixed: settings with the only supported value.
    architecture: the fields of Architecture that are not BERT's; `$name` is the setting `name` of the file, and
    _COMPUTED derives some from several.
    """

    classes: str
    prefix: str
    tables: list[str]
    decoder: Mapping[str, str]
    architecture: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """Return its table of tensor names."""
        return "".join(getattr(tables, name) for name in self.tables)


_ROWS = json.loads(Path(__file__).with_name("families.json").read_text(encoding="utf-8"))
FAMILIES = {model_type: Family(**row) for model_type, row in _ROWS.items()}


def _roberta(stored: Settings) -> Settings:
    return {"first_position": stored.get("pad_token_id", 1) + 1}


def _modernbert(stored: Settings) -> Settings:
    every = stored.get("global_attn_every_n_layers", 3)
    usual = ["sliding_attention" if n % every else "full_attention" for n in range(stored.get("num_hidden_layers", 22))]
    kinds = stored.get("layer_types") or usual
    ropes = stored.get("rope_parameters") or {}
    bases = {
        "full_attention": ropes.get("full_attention", {}).get("rope_theta", stored.get("global_rope_theta", 160_000.0)),
        "sliding_attention": ropes.get("sliding_attention", {}).get(
            "rope_theta", stored.get("local_rope_theta", 10_000.0)
        ),
    }
    reach = {"full_attention": None, "sliding_attention": stored.get("local_attention", 128) // 2}
    return {
        "rotary": tuple(float(bases[kind]) for kind in kinds),
        "reach": tuple(reach[kind] for kind in kinds),
        "pools": "first" if stored.get("classifier_pooling", "cls") == "cls" else "mean",
    }


def _electra(stored: Settings) -> Settings:
    width = stored["embedding_size"]
    return {"embedding_size": None if width == stored["hidden_size"] else width}


def _nomic(stored: Settings) -> Settings:
    base = (stored.get("rope_parameters") or {}).get("rope_theta", 1000.0)
    features = stored.get("hidden_size", 768) // stored.get("num_attention_heads", 12)
    if stored.get("head_dim") not in (None, features):
        raise ValueError(f"head_dim is {stored['head_dim']}, wanted hidden_size / num_attention_heads")
    return {"rotary": (float(base),) * stored.get("num_hidden_layers", 12)}


_COMPUTED = {
    **dict.fromkeys(("roberta", "xlm-roberta", "camembert"), _roberta),
    "electra": _electra,
    "modernbert": _modernbert,
    "nomic_bert": _nomic,
}


def architecture_of(stored: Settings) -> tuple[Settings, Architecture]:
    """Return the fields of BertConfig in a descendant's config.json, with its architecture.

    Raises: ValueError for a setting that npbert does not support.
    """
    family = FAMILIES[stored["model_type"]]
    for name, only in family.fixed.items():
        if stored.get(name, only) not in (only, None):
            raise ValueError(f"{name} is {stored[name]!r}, wanted {only!r}")
    _check_rope(stored)
    settings = {**family.settings, **stored}
    parts = dict(family.architecture)
    for name, value in parts.items():
        if str(value).startswith("$"):
            parts[name] = settings[value[1:]]
    if stored["model_type"] in _COMPUTED:
        parts |= _COMPUTED[stored["model_type"]](settings)
    architecture = Architecture(stored["model_type"], file=json.dumps(stored), **parts)
    settings |= {ours: stored[name] for ours, name in family.fields.items() if name in stored}
    settings["max_position_embeddings"] = settings.get("max_position_embeddings", 512) - architecture.first_position
    settings["position_embedding_type"] = "rotary" if architecture.rotary else "absolute"
    return settings, architecture


def _check_rope(stored: Settings) -> None:
    """Raise ValueError for scaled rotary positions, such as `yarn`."""
    ropes = stored.get("rope_parameters") or {}
    for parameters in (ropes, *ropes.values()):
        kind = parameters.get("rope_type", "default") if isinstance(parameters, dict) else "default"
        if kind != "default":
            raise ValueError(f"rope_type is {kind!r}, wanted 'default'")
