"""Whole models against torch: in float64 to 1e-10, in float32 to 1e-5, and with dropout."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from npbert import (
    IGNORED,
    Batch,
    BertConfig,
    BertForPreTraining,
    BertModel,
    EncoderLayer,
    Init,
    Sequences,
    Tape,
    randomize,
)
from npbert.blocks.activations import ACTIVATIONS
from npbert.blocks.bert_embeddings import POSITION_KINDS
from tests import torch_reference as reference
from tests.strategies import attention_masks, ids, rngs, seeds, sizes, targets
from tests.torch_comparison import EXACT, as_torch, assert_close, assert_parity, assert_same_gradients, copy_parameters

pytestmark = pytest.mark.torch

FLOAT32 = 1e-5
VOCAB_SIZE, MAX_LENGTH, TYPES = 11, 6, 3


@st.composite
def configs(draw):
    heads = draw(st.integers(1, 3))
    sizes_of_layers = heads * draw(st.integers(3, 4)), draw(st.integers(1, 2)), heads, draw(sizes)
    return BertConfig(
        VOCAB_SIZE,
        *sizes_of_layers,
        draw(st.sampled_from(sorted(ACTIVATIONS))),
        hidden_dropout_prob=0.2,
        attention_probs_dropout_prob=0.3,
        max_position_embeddings=MAX_LENGTH,
        type_vocab_size=TYPES,
        layer_norm_eps=draw(st.sampled_from([1e-12, 1e-5])),
        position_embedding_type=draw(st.sampled_from(POSITION_KINDS)),
    )


@st.composite
def batches(draw):
    """B ragged sequences with the targets of pre-training."""
    shape = draw(sizes), draw(st.integers(2, MAX_LENGTH))
    mask = draw(attention_masks(*shape))
    labels = draw(targets(VOCAB_SIZE, *shape, mask=mask))
    return Batch(draw(ids(VOCAB_SIZE, *shape)), draw(ids(TYPES, *shape)), mask, labels, draw(ids(2, shape[0])))


def pretraining(config, rng, dtype=np.float64, dropout=None):
    """npbert's model and torch's, with the same random parameters."""
    model, module = BertForPreTraining(config, rng=None, dtype=dtype), reference.BertForPreTraining(config, dropout)
    randomize(model, rng)
    copy_parameters(model, module)
    return model, module


def assert_same_losses(model, module, batch, *, rng=None, tolerance=EXACT):
    """The three losses, and the gradients of 3 times the first, so that a forgotten `dloss` shows."""
    tape = Tape(rng)
    losses, torch_losses = model.loss(batch, tape), module.losses(as_torch(batch))
    for name, theirs in zip(("loss", "mlm_loss", "nsp_loss"), torch_losses, strict=True):
        assert_close(name, getattr(losses, name), theirs, tolerance=tolerance)
    model.loss_backward(3.0, tape)
    (3 * torch_losses[0]).backward()
    assert_same_gradients(model, module, tolerance=tolerance)


@given(configs(), batches(), rngs)
def test_bert_model(config, batch, rng):
    assert_parity(BertModel(config, rng=None, dtype=np.float64), reference.BertModel(config), batch, rng=rng)


@given(configs(), batches(), rngs)
def test_bert_for_pretraining(config, batch, rng):
    model, module = pretraining(config, rng)
    assert_same_losses(model, module, batch)

    word_logits, relationship_logits = module(as_torch(batch))
    unlabelled = Batch(batch.input_ids, batch.token_type_ids, batch.attention_mask)
    masked = word_logits[torch.tensor(batch.labels != IGNORED)]
    assert_close("the logits of every position", model(unlabelled).prediction_logits, word_logits)
    assert_close("the logits of masked positions", model(batch).prediction_logits, masked)
    assert_close("the logits of the sequences", model(batch).seq_relationship_logits, relationship_logits)


@given(configs(), batches(), rngs, seeds)
def test_dropout_is_where_bert_has_it(config, batch, rng, seed):
    """What a check of derivatives cannot see: a dropout elsewhere would have a right derivative too.

    Every position is real and read, so that npbert drops in as many rows as the reference.
    """
    labels = np.where(batch.labels == IGNORED, 0, batch.labels)
    batch = dataclasses.replace(batch, attention_mask=np.ones_like(batch.input_ids), labels=labels)
    model, module = pretraining(config, rng, dropout=np.random.default_rng(seed))
    assert_same_losses(model, module, batch, rng=np.random.default_rng(seed))


# The draws are fixed: in one of a thousand terms cancel so far that both sides are 1e-5 from the float64 gradient.
FLOAT32_SEEDS = pytest.mark.parametrize("seed", range(5))
FLOAT32_LENGTHS = np.array([5, 3, 1])
FLOAT32_MASK = (np.arange(5) < FLOAT32_LENGTHS[:, None]).astype(int)
FLOAT32_CONFIG = BertConfig(VOCAB_SIZE, 24, 2, 3, 40, max_position_embeddings=MAX_LENGTH, type_vocab_size=TYPES)


@FLOAT32_SEEDS
def test_encoder_layer_in_float32(seed):
    rng = np.random.default_rng(seed)
    x, z = (rng.standard_normal((FLOAT32_LENGTHS.sum(), 24)).astype(np.float32) for _ in range(2))
    layer, module = EncoderLayer(24, 3, 40, Init(None)), reference.EncoderLayer(FLOAT32_CONFIG)
    sequences, run = Sequences(FLOAT32_LENGTHS), reference.on_rows(module)
    assert_parity(layer, module, x, z, sequences, rng=rng, tolerance=FLOAT32, run=run)


@FLOAT32_SEEDS
def test_bert_for_pretraining_in_float32(seed):
    rng = np.random.default_rng(seed)
    has_label = (rng.random((3, 5)) < 0.5) & (FLOAT32_MASK == 1)
    has_label[0, 0] = True
    labels = np.where(has_label, rng.integers(VOCAB_SIZE, size=(3, 5)), IGNORED)
    arrays = rng.integers(VOCAB_SIZE, size=(3, 5)), rng.integers(TYPES, size=(3, 5)), FLOAT32_MASK
    batch = Batch(*arrays, labels, np.array([0, 1, 1]))
    model, module = pretraining(FLOAT32_CONFIG, rng, np.float32)
    word_logits, relationship_logits = module(as_torch(batch))
    wanted = word_logits[torch.tensor(has_label)], relationship_logits
    for ours, theirs in zip(model(batch), wanted, strict=True):
        assert_close("logits", ours, theirs, tolerance=FLOAT32)
    assert_same_losses(model, module, batch, tolerance=FLOAT32)
