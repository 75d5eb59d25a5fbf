"""The models with a loss: batches for each of them, and what is asked of it there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from npbert import (
    IGNORED,
    Batch,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from npbert.compute import Array
from tests.models.small import VOCAB_SIZE, random_model

CLASSES_OF_LABELS, CHOICES = 4, 3
Question = tuple[Array, Any]
"""The logits of all possible answers, and the number of the right one."""


@dataclass(frozen=True)
class Task:
    """A model_class and changes to its configuration.

    targets(rng, mask): those of a batch with this attention_mask. asked(outputs, batch): the questions that each of the
    losses is a mean over; None for a regression. choices: how many sequences a question has. cancels: what adds the
    same to everything that a softmax compares, so that its gradient is 0.
    """

    model_class: type[Any]
    targets: Callable[[np.random.Generator, Array], dict[str, Array]]
    asked: Callable[[list[Array], Batch], list[list[Question]]] | None
    config: dict[str, Any] = field(default_factory=dict)
    choices: int = 0
    cancels: set[str] = field(default_factory=set)

    def model(self, **changes: Any) -> Any:
        return random_model(self.model_class, **{**self.config, **changes})

    def batch(self, seed: int = 0, *, with_targets: bool = True) -> Batch:
        """Four sequences, or questions, of up to five tokens, padded anywhere: on the left, and in the middle too."""
        rng = np.random.default_rng(seed)
        shape = (4, self.choices, 5) if self.choices else (4, 5)
        mask = (rng.random(shape) < 0.6).astype(int)
        mask[..., 2] = mask[-1] = 1
        arrays = rng.integers(VOCAB_SIZE, size=shape), rng.integers(2, size=shape), mask
        return Batch(*arrays, **(self.targets(rng, mask) if with_targets else {}))


def labels(rng: np.random.Generator, num_classes: int, allowed: Array) -> Array:
    """Labels below num_classes where they are allowed, and about a third of them IGNORED; the last is a target."""
    ignored = (allowed == 0) | (rng.random(allowed.shape) < 0.3)
    ignored.flat[-1] = False
    return np.where(ignored, IGNORED, rng.integers(num_classes, size=allowed.shape))


def answers(rng: np.random.Generator, mask: Array) -> dict[str, Array]:
    """Real tokens as start and end; the second question has no answer."""
    starts, ends = (np.array([rng.choice(np.flatnonzero(real)) for real in mask]) for _ in range(2))
    starts[1] = ends[1] = IGNORED
    return {"start_positions": starts, "end_positions": ends}


def questions(logits: Array, labels: Array) -> list[Question]:
    """One for each label that is a target."""
    return [(logits[place], label) for place, label in np.ndenumerate(labels) if label != IGNORED]


def spans(outputs: list[Array], batch: Batch) -> list[list[Question]]:
    """Start and end; the answers are the real tokens of the sequence."""
    start, end = (np.where(batch.attention_mask, logits, -np.inf) for logits in outputs)
    return [questions(start, batch.start_positions) + questions(end, batch.end_positions)]


def surprise(asked: list[Question]) -> float:
    """The mean of −log p[label]."""
    return sum(math.log(sum(map(math.exp, logits))) - logits[label] for logits, label in asked) / len(asked)


def right(asked: list[Question]) -> int:
    return sum(int(logits.argmax() == label) for logits, label in asked)


TASKS = {
    "pre-training": Task(
        BertForPreTraining,
        lambda rng, mask: {
            "labels": labels(rng, VOCAB_SIZE, mask),
            "next_sentence_label": rng.integers(2, size=len(mask)),
        },
        lambda outputs, batch: [
            questions(outputs[0], batch.labels),
            questions(outputs[1], batch.next_sentence_label),
        ],
    ),
    "masked LM": Task(
        BertForMaskedLM,
        lambda rng, mask: {"labels": labels(rng, VOCAB_SIZE, mask)},
        lambda outputs, batch: [questions(outputs[0], batch.labels)],
    ),
    "classification": Task(
        BertForSequenceClassification,
        lambda rng, mask: {"labels": labels(rng, CLASSES_OF_LABELS, mask.any(axis=1))},
        lambda outputs, batch: [questions(outputs[0], batch.labels)],
        {"num_labels": CLASSES_OF_LABELS},
    ),
    "regression": Task(
        BertForSequenceClassification,
        lambda rng, mask: {"labels": rng.normal(1, 3, len(mask))},
        None,
        {"num_labels": 1},
    ),
    "multiple choice": Task(
        BertForMultipleChoice,
        lambda rng, mask: {"labels": labels(rng, CHOICES, mask.any(axis=(1, 2)))},
        lambda outputs, batch: [questions(outputs[0], batch.labels)],
        choices=CHOICES,
        cancels={"classifier.bias"},
    ),
    "token classification": Task(
        BertForTokenClassification,
        lambda rng, mask: {"labels": labels(rng, CLASSES_OF_LABELS, mask)},
        lambda outputs, batch: [questions(outputs[0], batch.labels)],
        {"num_labels": CLASSES_OF_LABELS},
    ),
    "question answering": Task(
        BertForQuestionAnswering,
        answers,
        spans,
        cancels={"qa_outputs.bias", "bert.encoder.layers.1.output_norm.beta"},
    ),
}
each_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
