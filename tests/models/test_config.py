"""BertConfig: presets as published, and errors that name field and value. Everything in it is handed on to each part
that wants it, in every model."""

import dataclasses
import math
import re

import numpy as np
import pytest

from npbert import BertConfig, BertForMultipleChoice, BertForSentenceVectors, BertModel, Dropout
from npbert.core import named_parts
from npbert.models import PRESETS, parameter_table
from tests import textbook
from tests.models.own import Score
from tests.models.small import assert_all_close, each_class, fixed_batch, random_model, small_config

PUBLISHED = {  # layers, width, heads, feed-forward, positions, and parameters with the pooler
    "bert-tiny": (2, 128, 2, 512, 512, 4_385_920),
    "bert-mini": (4, 256, 4, 1024, 512, 11_170_560),
    "bert-small": (4, 512, 8, 2048, 512, 28_763_648),
    "bert-medium": (8, 512, 8, 2048, 512, 41_373_184),
    "bert-base-uncased": (12, 768, 12, 3072, 512, 109_482_240),
    "bert-large-uncased": (24, 1024, 16, 4096, 512, 335_141_888),
    "seed": (6, 768, 12, 3072, 30, 66_584_832),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_presets(name):
    layers, width, heads, feed_forward, positions, count = PUBLISHED[name]
    config = BertConfig.preset(name)
    assert config == BertConfig(30522, width, layers, heads, feed_forward, max_position_embeddings=positions)
    assert parameter_table(BertModel(config, rng=None)).splitlines()[-1].split() == ["total", f"{count:,}"]


def test_the_defaults_are_bert_base():
    config = BertConfig()
    assert config == BertConfig.preset("bert-base") == BertConfig.preset("bert-base-uncased")
    assert set(PRESETS) == {*PUBLISHED, "bert-base", "bert-large"}
    assert (config.head_dropout, config.label_names) == (0.1, ("LABEL_0", "LABEL_1"))
    assert BertConfig.preset("bert-tiny", vocab_size=40).vocab_size == 40
    with pytest.raises(ValueError, match="name is 'bert-huge', wanted one of bert-tiny, bert-mini"):
        BertConfig.preset("bert-huge")


def test_the_table_has_every_parameter_and_the_sum_of_each_part():
    model = Score(small_config(vocab_size=1500), rng=None)
    lines = [line.split() for line in parameter_table(model).splitlines()]
    for name, each in model.named_parameters():
        lines.remove([name, *str(each.value.shape).split(), f"{each.value.size:,}"])
    assert [" ".join(name) for *name, _ in lines] == [
        "embeddings",
        "layer 1",
        "layer 2",
        "norm",
        "steps.out.0",
        "total",
    ]
    assert lines[0][1] == f"{sum(each.value.size for each in model.bert.embeddings.parameters()):,}"


WRONG = [
    ("num_hidden_layers", 0, "a whole number from 1"),
    ("hidden_size", 10**30, "a whole number from 1 to 16777216"),
    ("type_vocab_size", True, "a whole number"),
    ("hidden_dropout_prob", "0.1", "at least 0 and less than 1"),
    ("classifier_dropout", 1, "at least 0 and less than 1"),
    ("initializer_range", math.nan, "a positive number"),
    ("hidden_act", "swish", "one of gelu, gelu_new, gelu_pytorch_tanh, relu"),
    ("position_embedding_type", "alibi", "one of absolute, sinusoidal"),
    ("hidden_size", 770, "a divisor of hidden_size, 770"),
    ("id2label", ("yes", "yes"), "wanted 2 different names, as num_labels"),
    ("id2label", "ab", "a name for each label: a list, or a dict such as"),
    *(("id2label", dict.fromkeys(keys, "x"), "the keys 0 to 1, without gaps") for keys in [(1, 2), ("a", 0)]),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_wrong_field_is_named_with_what_is_wanted(name, value, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        BertConfig(**{name: value})
    assert name in str(caught.value)


@pytest.mark.parametrize("number", [int, str, np.int64])
def test_names_by_number_as_transformers_has_them_are_put_in_order_and_counted(number):
    config = BertConfig(id2label={number(2): "c", number(0): "a", number(1): "b"})
    assert (config.num_labels, config.id2label, config.label_names) == (3, ("a", "b", "c"), ("a", "b", "c"))
    assert config == dataclasses.replace(config)
    assert config.label2id == {"a": 0, "b": 1, "c": 2}
    assert BertConfig(id2label={number(0): "LABEL_0", number(1): "LABEL_1"}) == BertConfig()


def rates_in(model):
    """The rate of each Dropout, by the path of its owner."""
    parts = [(re.sub(r"\d+", "*", path), part) for path, part in named_parts(model) if isinstance(part, Dropout)]
    return {path.removeprefix("bert.").rpartition(".")[0]: part.p for path, part in parts}


@each_class
@pytest.mark.parametrize(
    ("activation", "heads", "eps", "kind"),
    [("gelu", 1, 0.3, "absolute"), ("gelu_new", 3, 1e-3, "sinusoidal"), ("relu", 6, 0.1, "sinusoidal")],
)
def test_activation_heads_eps_and_the_kind_of_positions(cls, activation, heads, eps, kind):
    choices = {"hidden_act": activation, "num_attention_heads": heads, "layer_norm_eps": eps}
    model = random_model(cls, **choices, position_embedding_type=kind, num_labels=5)
    batch = fixed_batch().grouped(2) if cls in (BertForMultipleChoice, BertForSentenceVectors) else fixed_batch()
    assert_all_close(model(batch), textbook.outputs(model, batch))


@each_class
@pytest.mark.parametrize("classifier", [0.6, None, 0.0])
def test_each_dropout_has_its_rate(cls, classifier):
    rates = {"hidden_dropout_prob": 0.2, "attention_probs_dropout_prob": 0.4, "classifier_dropout": classifier}
    model = random_model(cls, **rates)
    wanted = {"embeddings": 0.2, "encoder.layers.*": 0.2, "encoder.layers.*.attention.dot_product": 0.4}
    if hasattr(model, "classifier"):
        wanted[""] = 0.2 if classifier is None else classifier
    assert rates_in(model) == wanted


@each_class
def test_initial_weights_have_the_standard_deviation_that_is_asked_for(cls):
    sizes = {"hidden_size": 120, "vocab_size": 60, "num_labels": 9, "type_vocab_size": 9, "max_position_embeddings": 20}
    model = cls(small_config(**sizes, initializer_range=0.3), rng=np.random.default_rng(0), dtype=np.float64)
    for name, value in ((name, parameter.value) for name, parameter in model.named_parameters()):
        if value.ndim == 1:
            assert (value == name.endswith("gamma")).all(), name
        else:
            assert value.std() == pytest.approx(0.3, rel=4 / math.sqrt(2 * value.size)), name
