"""Everything in a BertConfig is handed on to each part that wants it, in every model."""

import math
import re

import numpy as np
import pytest

import npbert
from npbert import Batch, BertForMultipleChoice, BertForSentenceVectors, DotProductAttention, Dropout, LayerNorm, Tape
from npbert.core import named_parts
from tests import textbook
from tests.models.small import assert_all_close, each_class, fixed_batch, random_model, small_config


def batch_for(cls):
    """Two sequences, or a pair of them."""
    return fixed_batch().grouped(2) if cls in (BertForMultipleChoice, BertForSentenceVectors) else fixed_batch()


def values_in(model, kind, attribute):
    """An attribute of all parts of a kind, by the path of what they are part of."""
    parts = [(re.sub(r"\d+", "*", path), part) for path, part in named_parts(model) if isinstance(part, kind)]
    return {path.removeprefix("bert.").rpartition(".")[0]: getattr(part, attribute) for path, part in parts}


@each_class
@pytest.mark.parametrize(
    ("activation", "heads", "eps", "kind"),
    [("gelu", 1, 0.3, "absolute"), ("gelu_new", 3, 1e-3, "sinusoidal"), ("gelu_pytorch_tanh", 2, 1, "absolute"),
     ("relu", 6, 0.1, "sinusoidal")],
)  # fmt: skip
def test_activation_heads_eps_and_the_kind_of_positions(cls, activation, heads, eps, kind):
    choices = {"hidden_act": activation, "num_attention_heads": heads, "layer_norm_eps": eps}
    model = random_model(cls, **choices, position_embedding_type=kind, num_labels=5)
    assert set(values_in(model, LayerNorm, "eps").values()) == {eps}
    assert set(values_in(model, DotProductAttention, "num_heads").values()) == {heads}
    batch = batch_for(cls)
    assert_all_close(model(batch), textbook.outputs(model, batch))


@each_class
@pytest.mark.parametrize("classifier", [0.6, None, 0.0])
def test_each_dropout_has_its_rate(cls, classifier):
    rates = {"hidden_dropout_prob": 0.2, "attention_probs_dropout_prob": 0.4, "classifier_dropout": classifier}
    model = random_model(cls, **rates)
    wanted = {"embeddings": 0.2, "encoder.layers.*": 0.2, "encoder.layers.*.attention.dot_product": 0.4}
    if hasattr(model, "classifier"):
        wanted[""] = 0.2 if classifier is None else classifier
    assert values_in(model, Dropout, "p") == wanted


@pytest.mark.parametrize("kind", ["SequenceClassification", "MultipleChoice", "TokenClassification"])
def test_where_all_is_dropped_a_classifier_is_left_with_its_bias(kind):
    cls = getattr(npbert, f"BertFor{kind}")
    model, batch = random_model(cls, classifier_dropout=1 - 2**-16), Batch(batch_for(cls).input_ids)
    logits = model.forward(batch, Tape(np.random.default_rng(0))).reshape(-1, len(model.classifier.bias.value))
    np.testing.assert_array_equal(logits, np.tile(model.classifier.bias.value, (len(logits), 1)))


@each_class
@pytest.mark.parametrize("std", [0.02, 0.3])
def test_initial_weights_have_the_standard_deviation_that_is_asked_for(cls, std):
    sizes = {"hidden_size": 120, "vocab_size": 60, "num_labels": 9, "type_vocab_size": 9, "max_position_embeddings": 20}
    model = cls(small_config(**sizes, initializer_range=std), rng=np.random.default_rng(0), dtype=np.float64)
    first = []
    for name, value in ((name, parameter.value) for name, parameter in model.named_parameters()):
        if value.ndim == 1:
            assert (value == (1 if name.endswith("gamma") else 0)).all(), name
            continue
        assert value.std() == pytest.approx(std, rel=4 / math.sqrt(2 * value.size)), name
        assert abs(value.mean()) < 4 * std / math.sqrt(value.size), name
        first.append(value.flat[0])
    assert len(set(first)) == len(first), "each is drawn for itself"
