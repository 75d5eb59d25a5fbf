"""Fifty steps of pre-training beside torch: if every loss is the same, so is everything between."""

import numpy as np
import pytest

from npbert import AdamW, BertConfig, BertForPreTraining, Tape, clip_by_global_norm, linear_warmup_decay
from npbert.data import collate, draw_pairs, load_dialogue, make_example
from tests import torch_reference as reference
from tests.torch_comparison import as_torch, assert_close, copy_parameters, pair_parameters

pytestmark = pytest.mark.torch

SAME_TRAINING = 1e-9
STEPS, WARMUP_STEPS = 50, 5
LEARNING_RATE, WEIGHT_DECAY = 5e-3, 0.1


def fresh_batch(dialogue, rng):
    pairs = draw_pairs(len(dialogue.lines), 8, rng)
    return collate([make_example(dialogue, pair, rng) for pair in pairs], pad_id=dialogue.vocabulary.pad_id)


@pytest.mark.parametrize("max_norm", [1.0, 4.0], ids=["every step clipped", "some steps clipped"])
def test_fifty_steps_of_pretraining(max_norm):
    rng, dialogue = np.random.default_rng(0), load_dialogue(9)
    wide = {"initializer_range": 0.2}  # at 0.02 attention is even, and would hide much
    config = BertConfig(len(dialogue.vocabulary), 24, 2, 3, 40, max_position_embeddings=30, **wide)
    model, module = BertForPreTraining(config, rng=rng, dtype=np.float64), reference.BertForPreTraining(config)
    copy_parameters(model, module)

    parameters = model.parameters()
    optimizer = AdamW(parameters, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    training = reference.Training(module, LEARNING_RATE, WEIGHT_DECAY, WARMUP_STEPS, STEPS, max_norm)
    word_losses, norms = [], []
    for step in range(STEPS):
        batch, tape = fresh_batch(dialogue, rng), Tape()
        model.zero_grad()
        losses = model.loss(batch, tape)
        model.loss_backward(1.0, tape)
        norms.append(clip_by_global_norm(parameters, max_norm))
        optimizer.lr = linear_warmup_decay(step, lr=LEARNING_RATE, warmup_steps=WARMUP_STEPS, total_steps=STEPS)
        optimizer.step()

        *torch_losses, _ = training.step(as_torch(batch))
        for name, theirs in zip(("loss", "mlm_loss", "nsp_loss"), torch_losses, strict=True):
            assert_close(f"{name} at step {step}", getattr(losses, name), theirs, tolerance=SAME_TRAINING)
        word_losses.append(losses.mlm_loss)

    for pair in pair_parameters(model, module):
        # A key bias has no gradient but rounding, which Adam divides by its eps, 1e-8: it moves a little, by chance.
        scale = 1.0 if pair.name.endswith("key.bias") else 0.0
        assert_close(pair.name, pair.ours.value, pair.turned(pair.theirs), tolerance=SAME_TRAINING, scale=scale)
    clipped = sum(norm > max_norm for norm in norms)
    assert clipped == STEPS if max_norm == 1 else 0 < clipped < STEPS
    assert np.mean(word_losses[-10:]) < np.mean(word_losses[:10]), "it should learn: else there is little to compare"
