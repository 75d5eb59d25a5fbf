"""The models with a loss: batches for each of them, and what is asked of it there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import npbert
from npbert import IGNORED, Batch
from npbert.compute import Array
from tests.models.small import LONGEST, TYPES, VOCAB_SIZE, random_model

Targets = Callable[[np.random.Generator, Array], dict[str, Array]]
Questions = list[tuple[Array, Any]]
"""For each target the logits of all possible answers, and the number of the right one."""


def questions(logits: Array, labels: Array) -> Questions:
    return [(logits[place], label) for place, label in np.ndenumerate(labels) if label != IGNORED]


def labelled(outputs: list[Array], batch: Batch) -> list[Questions]:
    targets = batch.labels, batch.next_sentence_label
    return [questions(logits, labels) for logits, labels in zip(outputs, targets, strict=False)]


@dataclass(frozen=True)
class Task:
    """A model_class and changes to its configuration.

    targets(rng, mask): those of a batch with this attention_mask. asked(outputs, batch): the questions that each of the
    losses is a mean over; None for a regression. choices: how many sequences a question has. cancels: what adds the
    same to everything that a softmax compares, so that its gradient is 0.
    """

    model_class: type[Any]
    targets: Targets
    config: dict[str, Any] = field(default_factory=dict)
    asked: Callable[[list[Array], Batch], list[Questions]] | None = labelled
    choices: int = 0
    cancels: tuple[str, ...] = ()

    def model(self, **changes: Any) -> Any:
        return random_model(self.model_class, **{**self.config, **changes})

    def batch(self, seed: int = 0, *, with_targets: bool = True) -> Batch:
        """Four sequences, or questions, of up to five tokens, padded anywhere: on the left, and in the middle too."""
        rng = np.random.default_rng(seed)
        shape = (4, self.choices, LONGEST) if self.choices else (4, LONGEST)
        mask = (rng.random(shape) < 0.6).astype(int)
        mask[..., 2] = mask[-1] = 1
        arrays = rng.integers(VOCAB_SIZE, size=shape), rng.integers(TYPES, size=shape), mask
        return Batch(*arrays, **(self.targets(rng, mask) if with_targets else {}))


def labels(num_classes: int, axes: tuple[int, ...] = ()) -> Targets:
    """One for each token, or for what is left without these axes; a third of them are IGNORED."""

    def draw(rng: np.random.Generator, mask: Array) -> dict[str, Array]:
        is_target = mask.any(axis=axes)
        is_target &= rng.random(is_target.shape) < 0.7
        is_target.flat[-1] = True
        return {"labels": np.where(is_target, rng.integers(num_classes, size=is_target.shape), IGNORED)}

    return draw


def words_and_pairs(rng: np.random.Generator, mask: Array) -> dict[str, Array]:
    return {**labels(VOCAB_SIZE)(rng, mask), "next_sentence_label": rng.integers(2, size=len(mask))}


def numbers(rng: np.random.Generator, mask: Array) -> dict[str, Array]:
    return {"labels": rng.normal(1, 3, len(mask))}


def answers(rng: np.random.Generator, mask: Array) -> dict[str, Array]:
    """Real tokens as start and end; the second question has no answer."""
    starts, ends = (np.array([rng.choice(np.flatnonzero(real)) for real in mask]) for _ in range(2))
    starts[1] = ends[1] = IGNORED
    return {"start_positions": starts, "end_positions": ends}


def ends_of_answers(outputs: list[Array], batch: Batch) -> list[Questions]:
    """Possible are the real tokens of the sequence."""
    start, end = (np.where(batch.attention_mask, logits, -np.inf) for logits in outputs)
    return [questions(start, batch.start_positions) + questions(end, batch.end_positions)]


def surprise(asked: Questions) -> float:
    """The mean of −log p[label]."""
    return sum(math.log(sum(map(math.exp, logits))) - logits[label] for logits, label in asked) / len(asked)


def right(asked: Questions) -> int:
    return sum(int(logits.argmax() == label) for logits, label in asked)


SHIFTS = "qa_outputs.bias", "bert.encoder.layers.1.output_norm.beta"
TASKS = {
    "pre-training": Task(npbert.BertForPreTraining, words_and_pairs),
    "masked LM": Task(npbert.BertForMaskedLM, labels(VOCAB_SIZE)),
    "classification": Task(npbert.BertForSequenceClassification, labels(4, (1,)), {"num_labels": 4}),
    "two classes": Task(npbert.BertForSequenceClassification, labels(2, (1,))),
    "regression": Task(npbert.BertForSequenceClassification, numbers, {"num_labels": 1}, None),
    "multiple choice": Task(npbert.BertForMultipleChoice, labels(3, (1, 2)), choices=3, cancels=("classifier.bias",)),
    "token classification": Task(npbert.BertForTokenClassification, labels(4), {"num_labels": 4}),
    "question answering": Task(npbert.BertForQuestionAnswering, answers, asked=ends_of_answers, cancels=SHIFTS),
}
each_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
