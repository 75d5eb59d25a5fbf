"""Everything in a BertConfig is handed on to each part that wants it: seen by what it does, in every model."""

import math

import numpy as np
import pytest

from npbert import Batch, BertForMultipleChoice, BertForPreTraining, Tape
from tests.models.plain_bert import SEQUENCE_HEADS, TOKEN_HEADS, PlainBert, plain_outputs
from tests.models.small import CLASSES, fixed_batch, random_model, small_config

each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
TYPES = 3
SETTINGS = [
    {"hidden_act": "gelu", "num_attention_heads": 1},
    {"hidden_act": "gelu_new", "num_attention_heads": 3, "layer_norm_eps": 0.3},
    {"hidden_act": "gelu_pytorch_tanh", "position_embedding_type": "sinusoidal"},
    {"hidden_act": "relu", "intermediate_size": 9, "num_hidden_layers": 3, "layer_norm_eps": 1e-3},
    {"hidden_size": 10, "vocab_size": 11, "max_position_embeddings": 9, "num_labels": 5},
]


def some_batch(cls, *, length, mask=None):
    rng = np.random.default_rng(1)
    shape = (3, 2, length) if cls is BertForMultipleChoice else (3, length)
    mask = None if mask is None else np.broadcast_to(np.array(mask)[:, None] if len(shape) == 3 else mask, shape)
    return Batch(rng.integers(7, size=shape), rng.integers(TYPES, size=shape), mask)


def as_list(output):
    return list(output) if isinstance(output, tuple) else [output]


@each_class
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_sizes_activation_eps_and_kinds_of_positions_and_types(cls, setting):
    model = random_model(cls, **{"type_vocab_size": TYPES, **setting})
    batch = some_batch(cls, length=5, mask=[[0, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 0, 1, 1, 0]])
    for output, wanted in zip(as_list(model(batch)), plain_outputs(model, batch), strict=True):
        np.testing.assert_allclose(output, wanted, rtol=1e-10, atol=1e-10)


@each_class
@pytest.mark.parametrize("classifier", [0.6, None, 0.0])
def test_dropout_has_its_rate_at_each_place(cls, classifier):
    """Without padding a model draws as the plain formulas do; where a head reads [CLS] alone, so does the last layer."""
    rates = {"hidden_dropout_prob": 0.2, "attention_probs_dropout_prob": 0.4, "classifier_dropout": classifier}
    model, batch = random_model(cls, type_vocab_size=TYPES, **rates), some_batch(cls, length=4)
    outputs = as_list(model.forward(batch, Tape(np.random.default_rng(5))))
    arrays = (array.reshape(-1, 4) for array in (batch.input_ids, batch.token_type_ids))
    plain = PlainBert(model, np.random.default_rng(5)).output(*arrays, np.arange(4))
    wanted = [output for output in plain if output is not None]
    if outputs[0].shape == (3, 4) and cls not in SEQUENCE_HEADS:
        outputs = [np.stack(outputs, axis=-1)]  # the starts and the ends
    for output, expected in zip(outputs, wanted, strict=True):
        np.testing.assert_allclose(output.reshape(expected.shape), expected, rtol=1e-10, atol=1e-10)


@each_class
@pytest.mark.parametrize("std", [0.02, 0.3])
def test_initial_weights_have_the_standard_deviation_that_is_asked_for(cls, std):
    config = small_config(
        hidden_size=120, vocab_size=60, num_labels=9, type_vocab_size=9, max_position_embeddings=20, initializer_range=std
    )
    model = cls(config, rng=np.random.default_rng(0), dtype=np.float64)
    seen = set()
    for name, parameter in model.named_parameters():
        value = parameter.value
        if value.ndim == 1:
            assert (value == (1 if name.endswith("gamma") else 0)).all(), name
            continue
        assert value.std() == pytest.approx(std, rel=4 / math.sqrt(2 * value.size)), name
        assert abs(value.mean()) < 4 * std / math.sqrt(value.size), name
        seen.add(value.flat[0])
    assert len(seen) == sum(parameter.value.ndim == 2 for parameter in model.parameters()), "each is drawn for itself"


@each_class
def test_the_rng_and_the_dtype_reach_every_parameter(cls):
    models = {dtype: cls(small_config(), rng=np.random.default_rng(3), dtype=dtype) for dtype in ("float32", "float64")}
    for dtype, model in models.items():
        assert {parameter.value.dtype for parameter in model.parameters()} == {np.dtype(dtype)}
    for narrow, wide in zip(*(model.parameters() for model in models.values()), strict=True):
        np.testing.assert_array_equal(narrow.value, wide.value.astype(np.float32))
    default = cls(small_config(), rng=np.random.default_rng(3))
    assert {parameter.value.dtype for parameter in default.parameters()} == {np.dtype(np.float32)}
    empty = cls(small_config(), rng=None)
    assert not any(parameter.value.any() for parameter in empty.parameters() if parameter.value.ndim == 2)


def test_fresh_weights_know_nothing():
    config = small_config(vocab_size=50, hidden_size=60)
    losses = BertForPreTraining(config, rng=np.random.default_rng(0)).loss(fixed_batch())
    assert losses.mlm_loss == pytest.approx(math.log(50), abs=0.2)
    assert losses.nsp_loss == pytest.approx(math.log(2), abs=0.1)


def test_every_model_is_tried_here():
    assert set(CLASSES) == set(TOKEN_HEADS) | set(SEQUENCE_HEADS)
