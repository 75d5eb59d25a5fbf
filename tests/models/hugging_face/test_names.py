"""The table of names, read in both directions."""

import pytest

from npbert import Linear
from npbert.models.hugging_face.names import HEAD_TENSORS, NAMES, head_of, plain_name, to_hugging_face
from tests.models.small import CLASSES, small_config

MODELS = [cls(small_config(num_hidden_layers=12), rng=None) for cls in CLASSES]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_parameter_has_a_name_of_its_own_and_only_the_weights_of_a_linear_are_transposed(model):
    stored = {name: to_hugging_face(name) for name, _ in model.named_parameters()}
    assert len({plain_name(row.name) for row in stored.values()}) == len(stored)
    for name, row in stored.items():
        owner = model
        for part in name.split(".")[:-1]:
            owner = owner[int(part)] if part.isdigit() else getattr(owner, part)
        assert row.transposed == (isinstance(owner, Linear) and name.endswith(".weight")), name


def test_every_row_is_some_parameter():
    rows = {row.replace("{}", "0") for row in NAMES}
    names = {name for model in MODELS for name, _ in model.named_parameters()}
    assert rows <= {name.removeprefix("bert.") for name in names}
    assert len(NAMES) == len({row.name for row in NAMES.values()}) == 5 + 16 + 2 + 5 + 2 + 2 + 2
    assert {head_of(name) for name in names} == {
        None, "pooler", "predictions", "seq_relationship", "classifier", "qa_outputs"
    }  # fmt: skip
    assert len(HEAD_TENSORS) == 2 + 5 + 2 + 2 + 2 + 2
    assert not any(name.startswith(("embeddings", "encoder", "bert.")) for name in HEAD_TENSORS)


@pytest.mark.parametrize(
    ("name", "stored", "transposed"),
    [
        ("bert.encoder.layers.11.attention.output.weight", "bert.encoder.layer.11.attention.output.dense.weight", True),
        ("encoder.layers.0.output_norm.gamma", "encoder.layer.0.output.LayerNorm.weight", False),
        ("predictions.bias", "cls.predictions.bias", False),
    ],
)
def test_some_names(name, stored, transposed):
    assert to_hugging_face(name) == (stored, transposed)


def test_a_name_that_the_table_lacks():
    with pytest.raises(KeyError):
        to_hugging_face("encoder.layers.0.output_norm.delta")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("bert.embeddings.LayerNorm.gamma", "embeddings.LayerNorm.weight"),
        ("embeddings.LayerNorm.beta", "embeddings.LayerNorm.bias"),
        ("classifier.bias", "classifier.bias"),
        ("roberta.bert.weight", "roberta.bert.weight"),
        ("gamma", "weight"),
    ],
)
def test_plain_names(name, plain):
    assert plain_name(name) == plain
