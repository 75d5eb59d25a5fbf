"""A tokenizer and a model small enough for any task, and a model that gives the answers that a test has planted."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from npbert import Batch, BertConfig, Tape, Tokenizer
from tests.small_tokenizer import small_tokenizer

WORDS = "ann bob sings plays play ##ing ##s well not in rome bad good a b c d e f . ?"


def tiny_tokenizer() -> Tokenizer:
    return small_tokenizer(WORDS)


def tiny_config(**changes: Any) -> BertConfig:
    """D = 4, H = 2, F = 6, one layer, without dropout."""
    sizes: dict[str, Any] = {
        "vocab_size": len(tiny_tokenizer()),
        "hidden_size": 4,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 6,
        "max_position_embeddings": 40,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    return BertConfig(**{**sizes, **changes})


def model_that_learned(task: Any, batch: Batch) -> tuple[Any, float]:
    """A new model for the task that went forward and backward once, and its loss then."""
    model = task.model_class(tiny_config(**task.config()), rng=np.random.default_rng(0))
    tape = Tape()
    loss = model.loss(batch, tape).loss
    model.loss_backward(1.0, tape)
    return model, loss


class Planted:
    """In place of a model: what it says of a batch is what `answer` says."""

    def __init__(self, tokenizer: Tokenizer, answer: Callable[[Batch], Any] | None = None) -> None:
        self.config = SimpleNamespace(vocab_size=len(tokenizer), max_position_embeddings=512)
        self.answer = answer

    def __call__(self, batch: Batch) -> Any:
        return self.answer(batch)


def words_of(tokenizer: Tokenizer, batch: Batch) -> list[list[str]]:
    """The tokens of each sequence of a batch, without its padding."""
    rows = zip(batch.input_ids, batch.attention_mask, strict=True)
    return [tokenizer.decode(ids[mask == 1]) for ids, mask in rows]
