"""Whole models against torch: in float64 to 1e-10, in float32 to 1e-5, and with dropout."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from npbert import Batch, BertConfig, BertForPreTraining, BertModel, EncoderLayer
from npbert.gradcheck import randomize
from npbert.layers import ACTIVATIONS, IGNORED, POSITION_KINDS
from tests import torch_reference as reference
from tests.strategies import attention_masks, ids, rngs, seeds, sizes, targets
from tests.torch_comparison import EXACT, as_torch, assert_close, assert_parity, assert_same_gradients, copy_parameters

pytestmark = pytest.mark.torch

FLOAT32 = 1e-5
VOCAB_SIZE, MAX_LENGTH, TYPES = 11, 6, 3


@st.composite
def configs(draw):
    heads = draw(st.integers(1, 3))
    return BertConfig(
        vocab_size=VOCAB_SIZE,
        hidden_size=heads * draw(st.integers(3, 4)),
        num_hidden_layers=draw(st.integers(1, 2)),
        num_attention_heads=heads,
        intermediate_size=draw(sizes),
        hidden_act=draw(st.sampled_from(sorted(ACTIVATIONS))),
        hidden_dropout_prob=0.2,
        attention_probs_dropout_prob=0.3,
        max_position_embeddings=MAX_LENGTH,
        type_vocab_size=TYPES,
        layer_norm_eps=draw(st.sampled_from([1e-12, 1e-5])),
        position_embedding_type=draw(st.sampled_from(POSITION_KINDS)),
    )


@st.composite
def batches(draw):
    """B sequences, one of them all padding; targets anywhere, on padding too."""
    shape = draw(sizes), draw(st.integers(2, MAX_LENGTH))
    return Batch(
        draw(ids(VOCAB_SIZE, *shape)),
        draw(ids(TYPES, *shape)),
        draw(attention_masks(*shape)),
        draw(targets(VOCAB_SIZE, *shape)),
        draw(ids(2, shape[0])),
    )


def assert_same_losses(model, module, batch, *, rng=None, tolerance=EXACT):
    """The three losses, and the gradients of 3 times the first, so that a forgotten `dloss` shows."""
    losses, cache = model.loss(batch, rng)
    torch_losses = module.losses(as_torch(batch))
    for name, ours, theirs in zip(losses._fields, losses, torch_losses, strict=True):
        assert_close(name, ours, theirs, tolerance=tolerance)
    model.backward(cache, 3.0)
    (3 * torch_losses[0]).backward()
    assert_same_gradients(model, module, tolerance=tolerance)


@given(configs(), batches(), rngs)
def test_bert_model(config, batch, rng):
    assert_parity(BertModel(config, rng=None, dtype=np.float64), reference.BertModel(config), batch, rng=rng)


@given(configs(), batches(), rngs)
def test_bert_for_pretraining(config, batch, rng):
    model, module = BertForPreTraining(config, rng=None, dtype=np.float64), reference.BertForPreTraining(config)
    randomize(model, rng)
    copy_parameters(model, module)
    assert_same_losses(model, module, batch)

    word_logits, relationship_logits = module(as_torch(batch))
    unlabelled = Batch(batch.input_ids, batch.token_type_ids, batch.attention_mask)
    assert_close("the logits of every position", model(unlabelled).prediction_logits, word_logits)
    masked = torch.tensor(batch.labels != IGNORED)
    assert_close("the logits of masked positions", model(batch).prediction_logits, word_logits[masked])
    assert_close("the logits of the sequences", model(batch).seq_relationship_logits, relationship_logits)


@given(configs(), batches(), rngs, seeds)
def test_dropout_is_where_bert_has_it(config, batch, rng, seed):
    """What a check of derivatives cannot see: a dropout elsewhere would have a right derivative too.

    Every position is real and read, so that npbert drops in as many rows as the reference.
    """
    everywhere = np.ones_like(batch.input_ids)
    labels = np.where(batch.labels == IGNORED, 0, batch.labels)
    batch = dataclasses.replace(batch, attention_mask=everywhere, labels=labels)
    model = BertForPreTraining(config, rng=None, dtype=np.float64)
    module = reference.BertForPreTraining(config, np.random.default_rng(seed))
    randomize(model, rng)
    copy_parameters(model, module)
    assert_same_losses(model, module, batch, rng=np.random.default_rng(seed))


# Every sequence has a token: where all keys have −1e4, float32 keeps but three decimals of their scores. The draws are
# fixed: in one of a thousand terms cancel so far that both sides are 1e-5 from the float64 gradient.
FLOAT32_SEEDS = pytest.mark.parametrize("seed", range(5))
FLOAT32_MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]])
FLOAT32_CONFIG = BertConfig(
    vocab_size=VOCAB_SIZE,
    hidden_size=24,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=40,
    max_position_embeddings=MAX_LENGTH,
    type_vocab_size=TYPES,
)


@FLOAT32_SEEDS
def test_encoder_layer_in_float32(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((3, 5, 24)).astype(np.float32)
    layer, module = EncoderLayer(24, 3, 40, rng=None, dtype=np.float32), reference.EncoderLayer(FLOAT32_CONFIG)
    assert_parity(layer, module, x, FLOAT32_MASK, rng=rng, tolerance=FLOAT32)


@FLOAT32_SEEDS
def test_bert_for_pretraining_in_float32(seed):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random((3, 5)) < 0.5, rng.integers(VOCAB_SIZE, size=(3, 5)), IGNORED)
    batch = Batch(
        rng.integers(VOCAB_SIZE, size=(3, 5)),
        rng.integers(TYPES, size=(3, 5)),
        FLOAT32_MASK,
        labels,
        np.array([0, 1, 1]),
    )
    model = BertForPreTraining(FLOAT32_CONFIG, rng=None, dtype=np.float32)
    module = reference.BertForPreTraining(FLOAT32_CONFIG)
    randomize(model, rng)
    copy_parameters(model, module)
    for ours, theirs in zip(model(batch), module(as_torch(batch)), strict=True):
        theirs = theirs[torch.tensor(labels != IGNORED)] if theirs.ndim == 3 else theirs
        assert_close("logits", ours, theirs, tolerance=FLOAT32)
    assert_same_losses(model, module, batch, tolerance=FLOAT32)
