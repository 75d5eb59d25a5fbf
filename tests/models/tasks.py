"""Each task with a loss of its own: its model, batches for it, and what the loss should be, in plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from npbert import (
    Batch,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from npbert.gradcheck import randomize
from npbert.layers import IGNORED, Array
from npbert.models import TaskModel
from tests.models.small import VOCAB_SIZE, fixed_batch, small_config
from tests.strategies import attention_masks, ids, targets, values

Draw = st.DrawFn


@dataclass(frozen=True)
class Task:
    """model_class and changes to its configuration.

    draw_targets(draw, B, T): the targets of a batch. fixed: those of fixed_batch. loss(output of the model, batch).
    choices: how many sequences a question has. cancels: what adds the same to everything that a softmax compares, so
    that its gradient is 0.
    """

    model_class: type[TaskModel]
    draw_targets: Callable[[Draw, int, int], dict[str, Array]]
    fixed: dict[str, Any]
    loss: Callable[[Any, Batch], float]
    config: dict[str, Any] = field(default_factory=dict)
    choices: int = 0
    cancels: set[str] = field(default_factory=set)

    def model(self, rng: np.random.Generator, **changes: Any) -> Any:
        """The model with random parameters of size 1."""
        model = self.model_class(small_config(**{**self.config, **changes}), rng=rng, dtype=np.float64)
        randomize(model, rng)
        return model

    def fixed_batch(self, **changes: Any) -> Batch:
        """A batch to break in one place."""
        batch = fixed_batch(labels=None, next_sentence_label=None)
        arrays = {name: getattr(batch, name) for name in ("input_ids", "token_type_ids", "attention_mask")}
        if self.choices:
            arrays = {name: np.stack([array, array[::-1], array], axis=1) for name, array in arrays.items()}
            arrays["input_ids"][:, 2, 1] = 4
        return Batch(**{**arrays, **{name: np.array(target) for name, target in self.fixed.items()}, **changes})


@st.composite
def task_batches(draw: Draw, task: Task) -> Batch:
    """Two to four sequences, or questions, of two to five tokens, ragged; one sequence is all padding."""
    batch_size, length = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    shape = (batch_size, task.choices, length) if task.choices else (batch_size, length)
    count = math.prod(shape[:-1])
    arrays = draw(ids(VOCAB_SIZE, *shape)), draw(ids(2, *shape)), draw(attention_masks(count, length)).reshape(shape)
    return Batch(*arrays, **task.draw_targets(draw, batch_size, length))


def surprise(logits: Array, labels: Array) -> float:
    """The mean of −log p[label] over the labels that are targets, one by one."""
    surprises = [
        math.log(sum(math.exp(logit) for logit in logits[place])) - logits[place][label]
        for place, label in np.ndenumerate(labels)
        if label != IGNORED
    ]
    return sum(surprises) / len(surprises)


def squared_error(logits: Array, labels: Array) -> float:
    """The mean of (logit − label)²."""
    return sum((logits[row, 0] - label) ** 2 for row, label in enumerate(labels)) / len(labels)


def _answers(draw: Draw, batch_size: int, length: int) -> dict[str, Array]:
    starts = draw(targets(length, batch_size))
    return {"start_positions": starts, "end_positions": np.where(starts == IGNORED, IGNORED, starts[::-1] % length)}


CLASSES, CHOICES = 4, 3
TASKS = {
    "masked LM": Task(
        BertForMaskedLM,
        lambda draw, b, t: {"labels": draw(targets(VOCAB_SIZE, b, t))},
        {"labels": [[IGNORED, 4, IGNORED, 2], [6, IGNORED, IGNORED, IGNORED]]},
        lambda logits, batch: surprise(logits, batch.labels[batch.labels != IGNORED]),
    ),
    "classification": Task(
        BertForSequenceClassification,
        lambda draw, b, t: {"labels": draw(targets(CLASSES, b))},
        {"labels": [3, 1]},
        lambda logits, batch: surprise(logits, batch.labels),
        {"num_labels": CLASSES, "classifier_dropout": 0.3},
    ),
    "regression": Task(
        BertForSequenceClassification,
        lambda draw, b, t: {"labels": draw(values(b))},
        {"labels": [0.5, -3.0]},
        lambda logits, batch: squared_error(logits, batch.labels),
        {"num_labels": 1, "classifier_dropout": 0.3},
    ),
    "multiple choice": Task(
        BertForMultipleChoice,
        lambda draw, b, t: {"labels": draw(targets(CHOICES, b))},
        {"labels": [2, 1]},
        lambda logits, batch: surprise(logits, batch.labels),
        {"classifier_dropout": 0.3},
        choices=CHOICES,
        cancels={"classifier.bias"},
    ),
    "token classification": Task(
        BertForTokenClassification,
        lambda draw, b, t: {"labels": draw(targets(CLASSES, b, t))},
        {"labels": [[0, 3, IGNORED, 1], [2, 2, IGNORED, IGNORED]]},
        lambda logits, batch: surprise(logits, batch.labels),
        {"num_labels": CLASSES, "classifier_dropout": 0.3},
    ),
    "question answering": Task(
        BertForQuestionAnswering,
        _answers,
        {"start_positions": [1, 0], "end_positions": [3, 2]},
        lambda output, batch: (
            (surprise(output[0], batch.start_positions) + surprise(output[1], batch.end_positions)) / 2
        ),
        cancels={"qa_outputs.bias", "bert.encoder.layers.1.output_norm.beta"},
    ),
}
