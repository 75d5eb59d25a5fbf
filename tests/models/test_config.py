"""BertConfig: presets as published, and errors that name field and value."""

import dataclasses
import re

import numpy as np
import pytest

from npbert import BertConfig, BertModel
from npbert.models import PRESETS, parameter_table
from tests.models.small import small_config

PUBLISHED = {  # layers, width, heads, feed-forward, and parameters with the pooler
    "bert-tiny": (2, 128, 2, 512, 4_385_920),
    "bert-mini": (4, 256, 4, 1024, 11_170_560),
    "bert-small": (4, 512, 8, 2048, 28_763_648),
    "bert-medium": (8, 512, 8, 2048, 41_373_184),
    "bert-base-uncased": (12, 768, 12, 3072, 109_482_240),
    "bert-large-uncased": (24, 1024, 16, 4096, 335_141_888),
    "seed": (6, 768, 12, 3072, 66_584_832),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_presets(name):
    config = BertConfig.preset(name)
    sizes = config.num_hidden_layers, config.hidden_size, config.num_attention_heads, config.intermediate_size
    *wanted, count = PUBLISHED[name]
    assert sizes == tuple(wanted)
    rest = {name: getattr(config, name) for name in ("vocab_size", "max_position_embeddings", "type_vocab_size")}
    assert list(rest.values()) == [30522, 30 if name == "seed" else 512, 2]
    assert parameter_table(config).splitlines()[-1].split() == ["total", f"{count:,}"]


def test_the_defaults_are_bert_base():
    config = BertConfig()
    assert config == BertConfig.preset("bert-base") == BertConfig.preset("bert-base-uncased")
    assert BertConfig.preset("bert-large") == BertConfig.preset("bert-large-uncased")
    assert set(PRESETS) == {*PUBLISHED, "bert-base", "bert-large"}
    assert (config.hidden_act, config.layer_norm_eps, config.initializer_range) == ("gelu", 1e-12, 0.02)
    assert (config.hidden_dropout_prob, config.attention_probs_dropout_prob, config.head_dropout) == (0.1, 0.1, 0.1)
    assert (config.position_embedding_type, config.label_names) == ("absolute", ("LABEL_0", "LABEL_1"))


def test_the_table_has_a_line_for_every_parameter_and_sums_that_are_right():
    config = small_config(vocab_size=1500, num_labels=9)
    lines = [re.fullmatch(r"( *)(\S+) +(\(.*\))? +([\d,]+)", line) for line in parameter_table(config).splitlines()]
    rows = [(bool(indent), name, shape, int(count.replace(",", ""))) for indent, name, shape, count in map(_groups, lines)]
    parameters = dict(BertModel(config, rng=None).named_parameters())
    shown = [(name, shape, count) for inside, name, shape, count in rows if inside]
    assert shown == [(name, str(p.value.shape), p.value.size) for name, p in parameters.items()]
    groups = {name: count for inside, name, _, count in rows if not inside}
    assert list(groups) == ["embeddings", "encoder.layers.0", "encoder.layers.1", "pooler", "total"]
    for group, count in groups.items():
        of_group = [p.value.size for name, p in parameters.items() if name.startswith(f"{group}.") or group == "total"]
        assert count == sum(of_group)


def _groups(match):
    return match.groups()


def test_changes_to_a_preset():
    assert BertConfig.preset("bert-tiny", vocab_size=40, hidden_act="relu").vocab_size == 40
    with pytest.raises(ValueError, match="no preset 'bert-huge', wanted one of bert-tiny, bert-mini"):
        BertConfig.preset("bert-huge")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"hidden_size": 770}, ValueError, "hidden_size 770 is not divisible by num_attention_heads 12"),
        *(
            ({name: 0}, ValueError, f"{name} is 0, wanted at least 1")
            for name in ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
        ),
        ({"max_position_embeddings": -2}, ValueError, "max_position_embeddings is -2, wanted at least 1"),
        ({"num_labels": 0}, ValueError, "num_labels is 0, wanted at least 1"),
        ({"intermediate_size": 30.5}, TypeError, "intermediate_size is 30.5, wanted an integer"),
        ({"type_vocab_size": True}, TypeError, "type_vocab_size is True, wanted an integer"),
        ({"hidden_dropout_prob": 1.0}, ValueError, "hidden_dropout_prob is 1.0, wanted a rate from 0"),
        ({"attention_probs_dropout_prob": -0.1}, ValueError, "attention_probs_dropout_prob is -0.1, wanted a rate"),
        ({"classifier_dropout": 1}, ValueError, "classifier_dropout is 1, wanted a rate"),
        ({"classifier_dropout": float("nan")}, ValueError, "classifier_dropout is nan, wanted a rate"),
        ({"hidden_dropout_prob": "0.1"}, TypeError, "hidden_dropout_prob is '0.1', wanted a number"),
        ({"attention_probs_dropout_prob": False}, TypeError, "attention_probs_dropout_prob is False, wanted a number"),
        ({"layer_norm_eps": 0}, ValueError, "layer_norm_eps is 0, wanted a positive number"),
        ({"layer_norm_eps": float("inf")}, ValueError, "layer_norm_eps is inf, wanted a positive number"),
        ({"initializer_range": float("nan")}, ValueError, "initializer_range is nan, wanted a positive number"),
        ({"hidden_act": "swish"}, ValueError, "hidden_act is 'swish', wanted one of gelu, gelu_new, gelu_pytorch_tanh, r"),
        ({"position_embedding_type": "rotary"}, ValueError, "position_embedding_type is 'rotary', wanted one of abs"),
        ({"id2label": ("a", "b", "c")}, ValueError, "id2label has 3 names, but num_labels is 2"),
    ],
    ids=str,
)
def test_errors(changes, error, message):
    with pytest.raises(error, match=message):
        BertConfig(**changes)


def test_numbers_of_numpy_are_numbers_and_a_list_of_names_is_taken():
    config = BertConfig(vocab_size=np.int64(50), hidden_dropout_prob=np.float32(0.25), id2label=["no", "yes"])
    assert (config.vocab_size, config.hidden_dropout_prob, config.head_dropout) == (50, 0.25, 0.25)
    assert config.id2label == config.label_names == ("no", "yes")
    assert BertConfig(classifier_dropout=0.0).head_dropout == 0


def test_a_config_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        BertConfig().hidden_size = 5
