"""FAMILIES: BERT and its descendants, with their tensor names and the settings of their config.json."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npbert.models.architecture import Architecture

Settings = dict[str, Any]


@dataclass(frozen=True)
class Family:
    """A `model_type` of config.json: a row of families.json.

    classes: the beginning of its class names (`RobertaFor…`).   prefix: of its tensors in a model with a head.
    tables: its tables of names in names.json.   decoder: the tensors of a tied decoder, with their twins.
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
    def names(self) -> Iterator[tuple[str, str, str]]:
        """Yield the rows of its tables: a class, or `all`, npbert's name of a part and Hugging Face's."""
        for name in self.tables:
            for kind, rows in _TABLES[name].items():
                yield from ((kind, ours, theirs) for ours, theirs in rows.items())


def _read(name: str) -> Any:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


_TABLES: dict[str, dict[str, dict[str, str]]] = _read("names.json")
"""By table and class, npbert's name of each part with parameters, and Hugging Face's. @ is the model without its head:
`bert.` and, say, `roberta.` in a model with a head, nothing in one without. {} is the number of the layer. a|b|c: one
tensor there."""
FAMILIES = {model_type: Family(**row) for model_type, row in _read("families.json").items()}


def _roberta(stored: Settings) -> Settings:
    return {"first_position": stored.get("pad_token_id", 1) + 1}


def _modernbert(stored: Settings) -> Settings:
    every = stored.get("global_attn_every_n_layers", 3)
    usual = ["sliding_attention" if n % every else "full_attention" for n in range(stored.get("num_hidden_layers", 22))]
    kinds = stored.get("layer_types") or usual
    ropes = stored.get("rope_parameters") or {}
    bases = {
        "full_attention": stored.get("global_rope_theta", 160_000.0),
        "sliding_attention": stored.get("local_rope_theta", 10_000.0),
    }
    rotary = {kind: _rope(ropes.get(kind) or {}, base, stored) for kind, base in bases.items()}
    reach = {"full_attention": None, "sliding_attention": stored.get("local_attention", 128) // 2}
    return {
        "rotary": tuple(rotary[kind] for kind in kinds),
        "reach": tuple(reach[kind] for kind in kinds),
        "pools": stored.get("classifier_pooling", "cls"),
    }


def _electra(stored: Settings) -> Settings:
    width = stored["embedding_size"]
    return {"embedding_size": None if width == stored["hidden_size"] else width}


def _nomic(stored: Settings) -> Settings:
    rope = _rope(stored.get("rope_parameters") or {}, 1000.0, stored)
    features = stored.get("hidden_size", 768) // stored.get("num_attention_heads", 12)
    if stored.get("head_dim") not in (None, features):
        raise ValueError(f"head_dim is {stored['head_dim']}, wanted hidden_size / num_attention_heads")
    return {"rotary": (rope,) * stored.get("num_hidden_layers", 12)}


def _rope(parameters: Settings, base: float, stored: Settings) -> tuple[float, ...]:
    """Return the base of rotary positions and, if they are stretched, the four numbers for Rotary.

    `dynamic` stretches only texts longer than max_position_embeddings, which npbert refuses. (`yarn`: Peng et al. 2023,
    section 3.2 and appendix; its pairs as in Hugging Face's code.)

    Raises: ValueError for an unknown setting.
    """
    given = {"rope_type": "default", "rope_theta": base, **parameters}
    kind, base = given.pop("rope_type"), float(given.pop("rope_theta"))
    known = _ROPES.get(kind)
    if known is None:
        raise ValueError(f"rope_type is {kind!r}, wanted {', '.join(_ROPES)}")
    for name, value in given.items():
        if name not in known and value not in (None, _USUAL.get(name)):
            raise ValueError(f"{name} of rope_parameters is {value!r}, wanted {_USUAL.get(name)!r}")
    if kind in ("default", "dynamic"):
        return (base,)
    factor = float(given["factor"])
    if kind == "linear":
        return base, factor, -1.0, 0.0, 1.0
    features = stored.get("hidden_size", 768) // stored.get("num_attention_heads", 12)
    length = given["original_max_position_embeddings"]

    def pair_that_turns(times: float) -> float:
        return features * math.log(length / (times * 2 * math.pi)) / (2 * math.log(base))

    first = max(0, math.floor(pair_that_turns(given.get("beta_fast") or 32)))
    last = min(features - 1, math.ceil(pair_that_turns(given.get("beta_slow") or 1)))
    scale = given.get("attention_factor") or max(1.0, 0.1 * math.log(factor) + 1)
    return base, factor, float(first), last if last > first else first + 0.001, scale


_LENGTH = "original_max_position_embeddings"
_ROPES = {
    "default": (),
    "dynamic": ("factor", _LENGTH),
    "linear": ("factor", _LENGTH),
    "yarn": ("factor", _LENGTH, "attention_factor", "beta_fast", "beta_slow"),
}
"""The kinds of rotary positions, and the settings of each."""
_USUAL = {"truncate": True, "partial_rotary_factor": 1.0}


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
