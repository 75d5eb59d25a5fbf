"""FAMILIES: BERT and its descendants, with their tensor names and the settings of their config.json."""

from pathlib import Path
from typing import Any

from npbert.io import InputError, one_of, read_json
from npbert.models.architecture import Architecture

Settings = dict[str, Any]


TABLES = read_json(Path(__file__).with_name("names.json"))
"""By table and class, npbert's name of each part with parameters, and Hugging Face's, if it is another. @ is the model
without its head: `bert.` and, say, `roberta.` in a model with a head, nothing in one without. {} is the number of the
layer. a|0, a|1: parts of one tensor there, in this order."""
FAMILIES = read_json(Path(__file__).with_name("families.json"))
"""By `model_type` of config.json:

classes: the beginning of its class names (`RobertaFor…`).   prefix: of its tensors in a model with a head.
tables: its tables of names in names.json.
decoder: the tensors of a tied decoder, with the ones that they repeat, without the prefix.
fields: config.json's names of BertConfig's fields, if they differ.
settings: defaults of missing settings, if they are not BERT's.   fixed: settings with the only supported value.
architecture: the fields of Architecture that are not BERT's; `$name` is the setting `name` of the file, and
_COMPUTED derives some from several."""


def _modernbert(stored: Settings) -> Settings:
    usual = ["full_attention", *["sliding_attention"] * (stored["global_attn_every_n_layers"] - 1)]
    kinds, ropes = stored.get("layer_types") or usual, stored.get("rope_parameters") or {}
    bases = {"full_attention": stored["global_rope_theta"], "sliding_attention": stored["local_rope_theta"]}
    rotary = {kind: _rotary_base(ropes.get(kind) or {}, base) for kind, base in bases.items()}
    reach = {"full_attention": None, "sliding_attention": stored["local_attention"] // 2}
    return {"rotary": tuple(rotary[kind] for kind in kinds), "reach": tuple(reach[kind] for kind in kinds)}


def _electra(stored: Settings) -> Settings:
    width = stored["embedding_size"]
    return {"embedding_size": None if width == stored["hidden_size"] else width}


def _nomic(stored: Settings) -> Settings:
    check_only("head_dim", stored["hidden_size"] // stored["num_attention_heads"], stored)
    return {"rotary": (_rotary_base(stored.get("rope_parameters") or {}, 1000.0),)}


def _rotary_base(parameters: Settings, usual: float) -> float:
    """Return the base of rotary positions.

    `dynamic` stretches only texts longer than max_position_embeddings, which npbert refuses.

    Raises: ValueError for a stretched base or partly rotated features, which have no layer here.
    """
    one_of(("default", "dynamic")).check("rope_type", parameters.get("rope_type", "default"))
    check_only("partial_rotary_factor", 1.0, parameters)
    return float(parameters.get("rope_theta", usual))


_NO_DECODER = {"is_decoder": False, "add_cross_attention": False, "tie_word_embeddings": True}
_COMPUTED = {
    "electra": _electra,
    "modernbert": _modernbert,
    "nomic_bert": _nomic,
}


def check_only(name: str, only: Any, stored: Settings) -> None:
    """Raise InputError if the setting `name` has another value than `only`, as others have no layer here."""
    if stored.get(name) not in (only, None):
        raise InputError(name, stored[name], str(only))


def read_settings(stored: Settings) -> Settings:
    """Return the settings in a config.json by the names of BertConfig's fields, with its architecture.

    Raises: ValueError for a setting that npbert does not support: another `model_type`, a decoder, untied weights.
    """
    model_type = stored.get("model_type", "bert")
    one_of(FAMILIES).check("model_type", model_type)
    family = FAMILIES[model_type]
    for name, only in {**_NO_DECODER, **family["fixed"]}.items():
        check_only(name, only, stored)
    settings = {**family["settings"], **stored}
    parts = dict(family["architecture"])
    for name, value in parts.items():
        if str(value).startswith("$"):
            parts[name] = settings[value[1:]]
    if model_type in _COMPUTED:
        parts |= _COMPUTED[model_type](settings)
    architecture = Architecture(model_type, file=stored, **parts)
    settings |= {ours: stored[name] for ours, name in family["fields"].items() if name in stored}
    if architecture.first_position:
        settings["max_position_embeddings"] -= architecture.first_position
    if architecture.rotary:
        settings["position_embedding_type"] = "rotary"
    return {**settings, "architecture": architecture}
