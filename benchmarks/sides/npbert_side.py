"""npbert, as its Trainer and its README use it."""

from __future__ import annotations

import numpy as np
from task import MAX_NORM, SENTENCE, Array, Arrays, Encode, Step, Task

from npbert import AdamW, Batch, BertConfig, BertForPreTraining, BertModel, Embed
from npbert.compute import keep_freed_memory
from npbert.io import ALONE
from npbert.optim import clip_factor
from npbert.training.accumulate import gradients_of
from npbert.training.parallel import Shares

keep_freed_memory()


def training_step(task: Task) -> Step:
    rng = np.random.default_rng(0)
    if task.weights:
        model = BertForPreTraining.from_pretrained(task.weights)
    else:
        model = BertForPreTraining(BertConfig(**task.config), rng=rng)
    shares = Shares(model, ALONE)
    optimizer = AdamW(shares.parameters, lr=task.learning_rate, weight_decay=task.weight_decay)

    def step(batch: Arrays) -> float:
        shares.zero_grad()
        losses, gradients = gradients_of(model, Batch(**batch), [0, optimizer.steps], shares)
        optimizer.step(clip_factor(shares.add_up(gradients), MAX_NORM))
        return losses.total

    return step


def encode(task: Task) -> Encode:
    model = BertModel.from_pretrained(task.checkpoint)

    def run(batch: Arrays) -> Array:
        return model(Batch(**batch)).last_hidden_state

    return run


def first_vector(task: Task) -> list[float]:
    vector: list[float] = Embed.from_pretrained(task.checkpoint)(SENTENCE)[:5].tolist()
    return vector
