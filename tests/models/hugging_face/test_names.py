"""The table of names, read in both directions."""

import pytest

from npbert import Linear
from npbert.models.hugging_face.names import HEAD_TENSORS, NAMES, head_of, plain_name, to_hugging_face
from tests.models.small import CLASSES, each_class, small_config


@each_class
def test_every_parameter_has_a_name_of_its_own_and_only_the_weights_of_a_linear_are_transposed(cls):
    model = cls(small_config(num_hidden_layers=12), rng=None)
    stored = {name: to_hugging_face(name) for name, _ in model.named_parameters()}
    assert len({plain_name(row.name) for row in stored.values()}) == len(stored)
    for name, row in stored.items():
        owner = model
        for part in name.split(".")[:-1]:
            owner = owner[int(part)] if part.isdigit() else getattr(owner, part)
        assert row.transposed == (isinstance(owner, Linear) and name.endswith(".weight")), name


def test_every_row_is_some_parameter_and_every_head_is_known():
    parameters = [name for cls in CLASSES for name, _ in cls(small_config(), rng=None).named_parameters()]
    assert {row.replace("{}", "0") for row in NAMES} <= {name.removeprefix("bert.") for name in parameters}
    heads = {"pooler", "predictions", "seq_relationship", "classifier", "qa_outputs"}
    assert {head_of(name) for name in parameters} == {None} | heads
    twins = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    assert {
        to_hugging_face(name).name.removeprefix("bert.") for name in parameters if head_of(name)
    } | twins == HEAD_TENSORS


def test_some_names():
    output = "encoder.layer.11.attention.output"
    assert to_hugging_face("bert.encoder.layers.11.attention.output.weight") == (f"bert.{output}.dense.weight", True)
    assert to_hugging_face("encoder.layers.11.attention_norm.gamma") == (f"{output}.LayerNorm.weight", False)
    assert to_hugging_face("predictions.bias") == ("cls.predictions.bias", False)
    with pytest.raises(KeyError):
        to_hugging_face("encoder.layers.0.output_norm.delta")
    assert plain_name("bert.embeddings.LayerNorm.gamma") == "embeddings.LayerNorm.weight"
    assert plain_name("embeddings.LayerNorm.beta") == "embeddings.LayerNorm.bias"
    assert plain_name("roberta.bert.weight") == "roberta.bert.weight"
    assert plain_name("my_norm.gamma") == "my_norm.gamma"
    assert plain_name("gamma") == "gamma"
