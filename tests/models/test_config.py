"""BertConfig: presets as published, and errors that name field and value."""

import dataclasses
import math
import re

import numpy as np
import pytest

from npbert import BertConfig
from npbert.models import PRESETS, parameter_rows, parameter_table
from tests.models.own import Score
from tests.models.small import small_config

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
    assert parameter_table(config).splitlines()[-1].split() == ["total", f"{count:,}"]


def test_the_defaults_are_bert_base():
    config = BertConfig()
    assert config == BertConfig.preset("bert-base") == BertConfig.preset("bert-base-uncased")
    assert BertConfig.preset("bert-large") == BertConfig.preset("bert-large-uncased")
    assert set(PRESETS) == {*PUBLISHED, "bert-base", "bert-large"}
    assert (config.head_dropout, config.label_names) == (0.1, ("LABEL_0", "LABEL_1"))


BERT = ["bert.embeddings", "bert.encoder.layers.0", "bert.encoder.layers.1"]
GROUPS = [*BERT, "norm", "steps", "steps.out.0", "offsets"]


def test_the_table_has_every_parameter_and_the_sum_of_each_part():
    model = Score(small_config(vocab_size=1500), rng=None)
    rows = parameter_rows(model)
    sizes = {name: parameter.value.size for name, parameter in model.named_parameters()}
    assert rows == [(name, parameter.value.shape, sizes[name]) for name, parameter in model.named_parameters()]
    lines = [line.split() for line in parameter_table(model).splitlines()]
    for name, shape, count in rows:
        lines.remove([name, *str(shape).split(), f"{count:,}"])
    sums = dict.fromkeys(GROUPS, 0)
    for name in sizes:
        for part in [part for part in GROUPS if name.startswith(f"{part}.")][-1:]:
            sums[part] += sizes[name]
    assert lines == [[part, f"{size:,}"] for part, size in [*sums.items(), ("total", sum(sizes.values()))]]


def test_changes_to_a_preset():
    assert BertConfig.preset("bert-tiny", vocab_size=40, hidden_act="relu").vocab_size == 40
    with pytest.raises(ValueError, match="name is 'bert-huge', wanted one of bert-tiny, bert-mini"):
        BertConfig.preset("bert-huge")


SIZES = [field.name for field in dataclasses.fields(BertConfig) if field.type == "int"]
WRONG = {
    "at least 1": [(size, 0) for size in SIZES],
    "at most 16777216": [(size, value) for size in SIZES for value in (2**24 + 1, 10**30)],
    "an integer": [("intermediate_size", 30.5), ("type_vocab_size", True), ("vocab_size", "9")],
    "a number": [("hidden_dropout_prob", "0.1"), ("attention_probs_dropout_prob", False), ("layer_norm_eps", None)],
    "a rate from 0": [("hidden_dropout_prob", 1.0), ("attention_probs_dropout_prob", -0.1), ("classifier_dropout", 1)],
    "a positive number": [("layer_norm_eps", 0), ("layer_norm_eps", math.inf), ("initializer_range", math.nan)],
    "one of gelu, gelu_new, gelu_pytorch_tanh, relu": [("hidden_act", "swish")],
    "one of absolute, sinusoidal": [("position_embedding_type", "alibi")],
}


@pytest.mark.parametrize(("wanted", "name", "value"), [(wanted, *row) for wanted in WRONG for row in WRONG[wanted]])
def test_a_wrong_field_is_named_with_its_value(wanted, name, value):
    with pytest.raises((TypeError, ValueError), match=f"{name} is {value!r}, wanted {wanted}") as caught:
        BertConfig(**{name: value})
    assert (caught.type is TypeError) == (wanted in ("an integer", "a number"))


def test_fields_that_do_not_fit_each_other():
    with pytest.raises(ValueError, match="id2label has the name 'yes' twice"):
        BertConfig(num_labels=3, id2label=("yes", "no", "yes"))
    many = [str(number) for number in range(100_000)]  # the time grew with the square of their count
    assert len(BertConfig(num_labels=100_000, id2label=many).label_names) == 100_000
    with pytest.raises(ValueError, match="num_attention_heads is 12, wanted a divisor of hidden_size, 770"):
        BertConfig(hidden_size=770)
    with pytest.raises(ValueError, match="id2label has 3 names, wanted 2, as num_labels"):
        BertConfig(id2label=("a", "b", "c"))
    with pytest.raises(ValueError, match="id2label has 3 names, wanted 4, as num_labels"):
        BertConfig(id2label=dict(enumerate("abc")), num_labels=4)
    with pytest.raises(TypeError, match="id2label is 'ab', wanted a name for each label: a list, or a dict such as"):
        BertConfig(id2label="ab")


@pytest.mark.parametrize("number", [int, str, np.int64])
def test_names_by_number_as_transformers_has_them_are_put_in_order_and_counted(number):
    config = BertConfig(id2label={number(2): "c", number(0): "a", number(1): "b"})
    assert (config.num_labels, config.id2label, config.label_names) == (3, ("a", "b", "c"), ("a", "b", "c"))
    assert config == BertConfig(num_labels=3, id2label=config.id2label) == dataclasses.replace(config)
    assert config.label2id == {"a": 0, "b": 1, "c": 2}
    assert BertConfig(id2label={number(0): "LABEL_0", number(1): "LABEL_1"}) == BertConfig()


@pytest.mark.parametrize("numbers", [(1, 2), (0, 2), ("0", 0), ("a", "b"), (0.0, 1.0), (-1, 0), ("00", "01")])
def test_names_by_other_numbers_are_refused(numbers):
    labels = dict(zip(numbers, ("neg", "pos"), strict=True))
    message = f"id2label is {labels}, wanted the keys 0 to 1, without gaps"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        BertConfig(id2label=labels)


def test_numbers_of_numpy_and_a_list_of_names_are_taken_and_nothing_changes_later():
    config = BertConfig(vocab_size=np.int64(50), hidden_dropout_prob=np.float32(0.25), id2label=["no", "yes"])
    assert (config.vocab_size, config.hidden_dropout_prob, config.head_dropout) == (50, 0.25, 0.25)
    assert config.id2label == config.label_names == ("no", "yes")
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.hidden_size = 5
