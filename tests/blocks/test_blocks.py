"""Every block of the catalogue against its formula, and whatever it is told against its effect."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import npbert
from npbert import EncoderLayer, Init, Parameter, Tape
from npbert.blocks import make_activation
from npbert.catalogue import CATALOGUE
from npbert.core import named_parts
from tests import textbook
from tests.strategies import read_of, sequences, values

NO_MODELS = [name for name, setting in CATALOGUE.items() if ".models." not in setting.layer_class.__module__]
INIT, EPS = Init(None, dtype=np.float64), {"layer_norm_eps": 1e-2}
X = np.random.default_rng(2).standard_normal((5, 6))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 3e-6)])
@pytest.mark.parametrize("name", NO_MODELS)
def test_forward_is_the_formula(name, dtype, tolerance):
    layer, inputs, _ = CATALOGUE[name].make(dtype=dtype)
    formula = textbook.FORMULAS.get(name) or textbook.FORMULAS[name.partition(",")[0]]
    y = layer(*inputs)
    assert np.asarray(y).dtype == dtype
    np.testing.assert_allclose(y, formula(layer, *inputs), rtol=tolerance, atol=tolerance)
    assert {part.eps for _, part in named_parts(layer) if isinstance(part, npbert.LayerNorm)} <= {1e-2}, "handed on"


def random(block):
    npbert.randomize(block, np.random.default_rng(0))
    return block


def trained(block, *inputs):
    """y, with dropout."""
    return block.forward(*inputs, tape=Tape(np.random.default_rng(1)))


@pytest.mark.parametrize("name", textbook.ACTIVATIONS)
def test_activations_are_handed_on(name):
    y = textbook.each(textbook.ACTIVATIONS[name], None, X)
    np.testing.assert_allclose(make_activation(name)(X), y, rtol=1e-13)
    feed_forward = random(npbert.FeedForward(6, 6, INIT, activation=name))
    layer = random(EncoderLayer(6, 2, 6, INIT, activation=name, **EPS))
    head = random(npbert.MaskedLMHead(Parameter(np.eye(6)), INIT, activation=name, **EPS))
    for part in (feed_forward.intermediate, feed_forward.output, head.dense):
        part.weight.value[...], part.bias.value[...] = np.eye(6), 0
    np.testing.assert_allclose(feed_forward(X), y, rtol=1e-13)
    head.table.value[...], head.bias.value[...] = np.eye(6), 0
    np.testing.assert_allclose(head(X), textbook.layer_norm(head.layer_norm, y), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(layer(X, X), textbook.encoder_layer(layer, X, X, None, name), rtol=1e-11, atol=1e-11)


ALL = 1 - 2**-16
"""A rate of dropout that leaves one number in 65,536."""


def test_dropout_is_handed_on_to_where_it_belongs():
    """Where all is dropped, only what is past it is left."""
    layer = random(EncoderLayer(6, 2, 7, INIT, dropout=ALL, **EPS))
    past = textbook.layer_norm(layer.output_norm, textbook.layer_norm(layer.attention_norm, X))
    np.testing.assert_allclose(trained(layer, X, X), past, rtol=1e-12)
    layer = random(EncoderLayer(6, 2, 7, INIT, attention_dropout=ALL, **EPS))
    h = textbook.layer_norm(layer.attention_norm, X + layer.attention.output.bias.value)
    past = textbook.layer_norm(layer.output_norm, h + textbook.feed_forward(layer.feed_forward, h))
    np.testing.assert_allclose(trained(layer, X, X), past, rtol=1e-12)
    attention = random(npbert.MultiHeadAttention(6, 2, INIT, dropout=ALL))
    np.testing.assert_allclose(trained(attention, X, X), np.tile(attention.output.bias.value, (5, 1)), rtol=1e-12)
    embeddings = random(npbert.BertEmbeddings(5, 6, INIT, max_position_embeddings=5, dropout=ALL))
    assert not trained(embeddings, *[np.arange(2)] * 3).any()
    assert embeddings(*[np.arange(2)] * 3).all()


@given(sequences(), st.data())
def test_probabilities_are_what_each_value_counts(some, data):
    some = some.only(data.draw(read_of(some)))
    q, k, v = (data.draw(values(count, 6)) for count in (some.num_queries, some.num_rows, some.num_rows))
    layer = npbert.DotProductAttention(3)
    c = np.split(layer(q, k, v, some), np.cumsum(some.query_lengths)[:-1])
    of_each = layer.probabilities(q, k, some)
    assert [p.shape for p in of_each] == [(3, *counts) for counts in zip(some.query_lengths, some.lengths, strict=True)]
    for p, rows, v_rows in zip(of_each, c, np.split(v, some.offsets[1:-1]), strict=True):
        np.testing.assert_allclose(p.sum(axis=-1), 1, rtol=1e-13)
        for head, features in enumerate(np.split(np.arange(6), 3)):
            np.testing.assert_allclose(p[head] @ v_rows[:, features], rows[:, features], rtol=1e-12, atol=1e-13)
