"""Fifty steps of pre-training beside torch: if every loss is the same, so is everything between."""

import numpy as np
import pytest
import torch
from torch import nn

from npbert import AdamW, BertConfig, BertForPreTraining, clip_by_global_norm, linear_warmup_decay
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


def torch_adamw(module):
    """What decays is chosen by name and kind here, as in BERT's code: no bias, and nothing of a LayerNorm."""
    spared = {
        parameter
        for owner in module.modules()
        for name, parameter in owner.named_parameters(recurse=False)
        if name == "bias" or isinstance(owner, nn.LayerNorm)
    }
    decayed = [parameter for parameter in module.parameters() if parameter not in spared]
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": list(spared), "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=LEARNING_RATE)


@pytest.mark.parametrize("max_norm", [1.0, 4.0], ids=["every step clipped", "some steps clipped"])
def test_fifty_steps_of_pretraining(max_norm):
    rng = np.random.default_rng(0)
    dialogue = load_dialogue(9)
    config = BertConfig(
        vocab_size=len(dialogue.vocabulary),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=40,
        max_position_embeddings=30,
        initializer_range=0.2,  # at 0.02 attention is even, and would hide much
    )
    model, module = BertForPreTraining(config, rng=rng, dtype=np.float64), reference.BertForPreTraining(config)
    copy_parameters(model, module)

    parameters = model.parameters()
    optimizer = AdamW(parameters, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    torch_optimizer = torch_adamw(module)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        torch_optimizer, lambda step: min(step / WARMUP_STEPS, (STEPS - step) / (STEPS - WARMUP_STEPS))
    )
    word_losses, norms = [], []
    for step in range(STEPS):
        batch = fresh_batch(dialogue, rng)
        model.zero_grad()
        losses, cache = model.loss(batch)
        model.backward(cache)
        norms.append(clip_by_global_norm(parameters, max_norm))
        optimizer.lr = linear_warmup_decay(step, lr=LEARNING_RATE, warmup_steps=WARMUP_STEPS, total_steps=STEPS)
        optimizer.step()

        module.zero_grad()
        torch_losses = module.losses(as_torch(batch))
        torch_losses[0].backward()
        nn.utils.clip_grad_norm_(module.parameters(), max_norm)
        torch_optimizer.step()
        scheduler.step()

        for name, ours, theirs in zip(losses._fields, losses, torch_losses, strict=True):
            assert_close(f"{name} at step {step}", ours, theirs, tolerance=SAME_TRAINING)
        word_losses.append(losses.mlm_loss)

    for pair in pair_parameters(model, module):
        # A key bias has no gradient but rounding, which Adam divides by its eps, 1e-8: it moves a little, by chance.
        scale = 1.0 if pair.name.endswith("key.bias") else 0.0
        assert_close(pair.name, pair.ours.value, pair.turned(pair.theirs), tolerance=SAME_TRAINING, scale=scale)
    clipped = sum(norm > max_norm for norm in norms)
    assert clipped == STEPS if max_norm == 1 else 0 < clipped < STEPS
    assert np.mean(word_losses[-10:]) < np.mean(word_losses[:10]), "it should learn: else there is little to compare"
