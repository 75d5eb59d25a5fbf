"""Everything in a BertConfig is handed on to each part that wants it, in every model."""

import math
import re

import numpy as np
import pytest

from npbert import BertForMultipleChoice, BertForSentenceVectors, Dropout
from npbert.core import named_parts
from tests import textbook
from tests.models.small import assert_all_close, each_class, fixed_batch, random_model, small_config


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
