"""FAMILIES: BERT and its descendants, each with the names of its tensors in a file and what its config.json says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from npbert.models.architecture import Architecture
from npbert.models.hugging_face import tables

Settings = dict[str, Any]


@dataclass(frozen=True)
class Family:
    """A kind of model, as `model_type` in config.json names it.

    classes: the beginning of the names of its classes (`RobertaFor…`).   prefix: of the names of its tensors in a model
    with a head.   table: the names of its tensors.   decoder: the tensors of a decoder that is tied, with what they are
    tied to.   fields: config.json's names for fields of BertConfig, where they differ.   settings: the defaults of
    fields that a file may lack, where they are not BERT's.   fixed: settings with the only value that npbert has.
    architecture: from the settings of a file.
    """

    classes: str
    prefix: str
    table: str
    decoder: str
    architecture: Callable[[Settings], Settings]
    fields: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)


def _roberta(stored: Settings) -> Settings:
    return {"first_position": stored.get("pad_token_id", 1) + 1, "words_act": "gelu"}


def _distilbert(stored: Settings) -> Settings:
    return {"has_types": False, "base_pooler": False, "pooler": "relu"}


def _electra(stored: Settings) -> Settings:
    return {
        "embedding_size": stored.get("embedding_size", 128),
        "base_pooler": False,
        "pooler": "gelu",
        "words_act": "gelu",
    }


def _albert(stored: Settings) -> Settings:
    return {"embedding_size": stored.get("embedding_size", 128), "is_shared": True}


def _mpnet(stored: Settings) -> Settings:
    buckets = stored.get("relative_attention_num_buckets", 32)
    return {"first_position": 2, "has_types": False, "relative_buckets": buckets, "words_act": "gelu"}


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
        "has_types": False,
        "biases": "none",
        "pre_norm": True,
        "gated": True,
        "rotary": tuple(float(bases[kind]) for kind in kinds),
        "reach": tuple(reach[kind] for kind in kinds),
        "base_pooler": False,
        "pooler": stored.get("classifier_activation", "gelu"),
        "words_act": stored.get("classifier_activation", "gelu"),
        "pooler_norm": True,
        "pools": {"cls": "first"}.get(stored.get("classifier_pooling", "cls"), "mean"),
        "token_pooler": True,
    }


def _nomic(stored: Settings) -> Settings:
    base = (stored.get("rope_parameters") or {}).get("rope_theta", 1000.0)
    features = stored.get("hidden_size", 768) // stored.get("num_attention_heads", 12)
    if stored.get("head_dim") not in (None, features):
        raise ValueError(f"head_dim is {stored['head_dim']}, and npbert has only hidden_size / num_attention_heads")
    return {
        "biases": "norms",
        "gated": True,
        "rotary": (float(base),) * stored.get("num_hidden_layers", 12),
        "base_pooler": False,
    }


_LM_HEAD = "lm_head.decoder.weight @embeddings.word_embeddings.weight  lm_head.decoder.bias lm_head.bias"
_CLS = (
    "cls.predictions.decoder.weight @embeddings.word_embeddings.weight  "
    "cls.predictions.decoder.bias cls.predictions.bias"
)
_OF_ROBERTA: dict[str, Any] = {
    "table": tables.EMBEDDINGS + tables.LAYERS + tables.HEADS + tables.ROBERTA_HEADS,
    "decoder": _LM_HEAD,
    "architecture": _roberta,
    "settings": {"vocab_size": 50265, "layer_norm_eps": 1e-12, "type_vocab_size": 2},
}
_NO_ROPE = {"rope_scaling": None}

FAMILIES: dict[str, Family] = {
    "bert": Family("Bert", "bert", tables.BERT, _CLS, lambda stored: {}),
    "roberta": Family("Roberta", "roberta", **_OF_ROBERTA),
    "xlm-roberta": Family("XLMRoberta", "roberta", **_OF_ROBERTA),
    "camembert": Family("Camembert", "roberta", **_OF_ROBERTA),
    "distilbert": Family(
        "DistilBert",
        "distilbert",
        tables.EMBEDDINGS + tables.HEADS + tables.DISTILBERT,
        "vocab_projector.weight @embeddings.word_embeddings.weight",
        _distilbert,
        fields={
            "hidden_size": "dim",
            "num_hidden_layers": "n_layers",
            "num_attention_heads": "n_heads",
            "intermediate_size": "hidden_dim",
            "hidden_act": "activation",
            "hidden_dropout_prob": "dropout",
            "attention_probs_dropout_prob": "attention_dropout",
            "classifier_dropout": "seq_classif_dropout",
        },
        settings={"num_hidden_layers": 6, "classifier_dropout": 0.2},
        fixed={"sinusoidal_pos_embds": False},
    ),
    "electra": Family(
        "Electra",
        "electra",
        tables.EMBEDDINGS + tables.LAYERS + tables.HEADS + tables.ELECTRA,
        "generator_lm_head.weight @embeddings.word_embeddings.weight",
        _electra,
        settings={"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024},
        fixed={"summary_type": "first", "summary_activation": "gelu", "summary_use_proj": True},
    ),
    "albert": Family(
        "Albert",
        "albert",
        tables.EMBEDDINGS + tables.HEADS + tables.ALBERT,
        "predictions.decoder.weight @embeddings.word_embeddings.weight  predictions.decoder.bias predictions.bias",
        _albert,
        fields={"classifier_dropout": "classifier_dropout_prob"},
        settings={
            "vocab_size": 30000,
            "hidden_size": 4096,
            "num_attention_heads": 64,
            "intermediate_size": 16384,
            "hidden_act": "gelu_new",
            "hidden_dropout_prob": 0.0,
            "attention_probs_dropout_prob": 0.0,
            "classifier_dropout": 0.1,
        },
        fixed={"num_hidden_groups": 1, "inner_group_num": 1},
    ),
    "mpnet": Family(
        "MPNet",
        "mpnet",
        tables.EMBEDDINGS + tables.LAYERS + tables.MPNET + tables.HEADS + tables.ROBERTA_HEADS,
        _LM_HEAD,
        _mpnet,
        settings={"vocab_size": 30527},
    ),
    "modernbert": Family(
        "ModernBert",
        "model",
        tables.MODERNBERT,
        "decoder.weight @embeddings.word_embeddings.weight",
        _modernbert,
        fields={
            "hidden_act": "hidden_activation",
            "hidden_dropout_prob": "embedding_dropout",
            "attention_probs_dropout_prob": "attention_dropout",
            "layer_norm_eps": "norm_eps",
        },
        settings={
            "vocab_size": 50368,
            "intermediate_size": 1152,
            "num_hidden_layers": 22,
            "max_position_embeddings": 8192,
            "hidden_dropout_prob": 0.0,
            "attention_probs_dropout_prob": 0.0,
            "layer_norm_eps": 1e-5,
            "classifier_dropout": 0.0,
        },
        fixed={
            "norm_bias": False,
            "attention_bias": False,
            "mlp_bias": False,
            "classifier_bias": False,
            "decoder_bias": True,
            "mlp_dropout": 0.0,
            "embedding_dropout": 0.0,
            "attention_dropout": 0.0,
            **_NO_ROPE,
        },
    ),
    "nomic_bert": Family(
        "NomicBert",
        "nomic_bert",
        tables.EMBEDDINGS + tables.HEADS + tables.NOMIC,
        _CLS,
        _nomic,
        settings={
            "vocab_size": 30528,
            "hidden_act": "silu",
            "max_position_embeddings": 2048,
            "hidden_dropout_prob": 0.0,
            "attention_probs_dropout_prob": 0.0,
        },
        fixed=_NO_ROPE,
    ),
}


def architecture_of(stored: Settings) -> tuple[Settings, Architecture]:
    """The fields of BertConfig that a config.json of a descendant holds, and its architecture.

    Raises: ValueError that names a setting for which npbert has no layer.
    """
    family = FAMILIES[stored["model_type"]]
    for name, only in family.fixed.items():
        if stored.get(name, only) not in (only, None):
            raise ValueError(f"{name} is {stored[name]!r}, and npbert has only {only!r}")
    _check_rope(stored)
    theirs = {**stored, **{ours: stored[name] for ours, name in family.fields.items() if name in stored}}
    settings = {**family.settings, **theirs}
    architecture = Architecture(
        stored["model_type"], file=json.dumps(stored), **family.architecture({**family.settings, **stored})
    )
    settings["max_position_embeddings"] = settings.get("max_position_embeddings", 512) - architecture.first_position
    settings["position_embedding_type"] = "rotary" if architecture.rotary else "absolute"
    return settings, architecture


def _check_rope(stored: Settings) -> None:
    """Raise ValueError for rotary positions that are stretched (`yarn`, say)."""
    ropes = stored.get("rope_parameters") or {}
    for parameters in (ropes, *ropes.values()):
        kind = parameters.get("rope_type", "default") if isinstance(parameters, dict) else "default"
        if kind != "default":
            raise ValueError(f"rope_type is {kind!r}, and npbert has only 'default'")
