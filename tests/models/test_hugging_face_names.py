"""The table of names, read in both directions."""

import pytest
from npbert.models.hugging_face_names import HEAD_TENSORS, NAMES, head_of, plain_name, to_hugging_face

from npbert import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    Linear,
)
from npbert.layers import named_parameters
from tests.models.small import small_config

MODELS = [
    cls(small_config(num_hidden_layers=12), rng=None)
    for cls in (
        BertModel,
        BertForPreTraining,
        BertForMaskedLM,
        BertForSequenceClassification,
        BertForMultipleChoice,
        BertForTokenClassification,
        BertForQuestionAnswering,
    )
]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@each_model
def test_every_parameter_has_a_name_of_its_own(model):
    names = [to_hugging_face(name).name for name, _ in model.named_parameters()]
    assert len(set(names)) == len(names)
    assert len({plain_name(name) for name in names}) == len(names)


def test_every_row_is_some_parameter():
    rows = {row.replace("{}", "0") for row in NAMES}
    parameters = {name.removeprefix("bert.") for model in MODELS for name, _ in model.named_parameters()}
    assert rows <= parameters
    assert len(NAMES) == len({row.name for row in NAMES.values()}) == 5 + 16 + 2 + 5 + 2 + 2 + 2


@each_model
def test_the_weights_of_linear_layers_are_transposed_and_nothing_else(model):
    """Where the owner of a `weight` is a Linear, the axes are the other way round."""

    def walk(prefix, layer):
        for name, part in vars(layer).items():
            parts = enumerate(part) if isinstance(part, list) else ()
            for place, item in [(name, part), *((f"{name}.{index}", item) for index, item in parts)]:
                if hasattr(item, "forward"):
                    yield f"{prefix}{place}", item
                    yield from walk(f"{prefix}{place}.", item)

    linear = {f"{name}.weight" for name, layer in walk("", model) if isinstance(layer, Linear)}
    wanted = linear | {name for name in dict(named_parameters(model)) if name == "seq_relationship.weight"}
    assert {name for name, _ in model.named_parameters() if to_hugging_face(name).transposed} == wanted


def test_some_names():
    assert to_hugging_face("bert.encoder.layers.11.attention.output.weight") == (
        "bert.encoder.layer.11.attention.output.dense.weight",
        True,
    )
    assert to_hugging_face("encoder.layers.0.output_norm.gamma") == ("encoder.layer.0.output.LayerNorm.weight", False)
    assert to_hugging_face("predictions.bias") == ("cls.predictions.bias", False)
    with pytest.raises(KeyError):
        to_hugging_face("encoder.layers.0.output_norm.delta")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("bert.embeddings.LayerNorm.gamma", "embeddings.LayerNorm.weight"),
        ("embeddings.LayerNorm.beta", "embeddings.LayerNorm.bias"),
        ("classifier.bias", "classifier.bias"),
        ("bert.pooler.dense.weight", "pooler.dense.weight"),
        ("roberta.bert.weight", "roberta.bert.weight"),
        ("gamma", "weight"),
    ],
)
def test_plain_names(name, plain):
    assert plain_name(name) == plain


def test_heads():
    heads = {head_of(name) for model in MODELS for name, _ in model.named_parameters()}
    assert heads == {None, "pooler", "predictions", "seq_relationship", "classifier", "qa_outputs"}
    assert head_of("bert.embeddings.layer_norm.gamma") is head_of("encoder.layers.3.output_norm.beta") is None
    assert len(HEAD_TENSORS) == 2 + 5 + 2 + 2 + 2 + 2
    assert not any(name.startswith(("embeddings", "encoder", "bert.")) for name in HEAD_TENSORS)
