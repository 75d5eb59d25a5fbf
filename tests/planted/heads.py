"""Heads of tasks gone wrong, and MeanPooling: right layers, with one step forgotten or one axis taken for another."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.data import Batch
from npbert.layers import (
    IGNORED,
    Array,
    Cache,
    Layer,
    MeanPooling,
    MeanSquaredError,
    Softmax,
    SoftmaxCrossEntropy,
    rows,
)
from npbert.models import (
    BertConfig,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    TaskModel,
)
from tests.planted.embeddings import DecoderForgetsTheTable
from tests.planted.losses import DividedByAllPositions, PaddingIsCounted


class TableOfMaskedLMLearnsFromTheInputOnly(BertForMaskedLM):
    def __init__(self, config: BertConfig, **options: Any) -> None:
        super().__init__(config, **options)
        self.predictions = DecoderForgetsTheTable(self.bert.embeddings.word_embeddings.weight, **options)


class LogitsScatteredFromTheFirstPosition(BertForMaskedLM):
    """The gradient of the M masked positions goes to the first M positions."""

    def forward(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[Array, Cache]:
        (hidden, _), bert_cache = self.bert.forward(batch, rng)
        logits, predictions_cache = self.predictions.forward(hidden[batch.labels != IGNORED])
        return logits, (bert_cache, hidden.shape, predictions_cache)

    def backward_logits(self, dlogits: Array, cache: Cache) -> None:
        bert_cache, shape, predictions_cache = cache
        dhidden = np.zeros(shape)
        rows(dhidden)[: len(dlogits)] = self.predictions.backward(dlogits, predictions_cache)
        self.bert.backward((dhidden, None), bert_cache)


class StartAndEndSwapped(BertForQuestionAnswering):
    """The gradient of the start goes to the column of the end."""

    def backward_logits(self, dlogits: Array, cache: Cache) -> None:
        super().backward_logits(dlogits[:, ::-1], cache)


class ScoresReshaped(BertForQuestionAnswering):
    """(B, 2, T) is made (B, T, 2) by a reshape, where a transposition is needed."""

    def backward_logits(self, dlogits: Array, cache: Cache) -> None:
        batch_size, _, length = dlogits.shape
        super().backward_logits(dlogits.reshape(batch_size, length, 2).swapaxes(1, 2), cache)


class TwoLossesAdded(BertForQuestionAnswering):
    """Backward is that of the sum of the two losses, where forward took the mean."""

    def backward_logits(self, dlogits: Array, cache: Cache) -> None:
        super().backward_logits(2 * dlogits, cache)


class ChoicesInAnotherOrder(BertForMultipleChoice):
    """The gradient (B, C) is laid out choice by choice, while the rows are question by question."""

    def backward_logits(self, dlogits: Array, cache: Cache) -> None:
        super().backward_logits(dlogits.T.reshape(dlogits.shape), cache)


class _SoftmaxOverQuestions(SoftmaxCrossEntropy):
    """p from the softmax over the leading axis."""

    def forward(self, logits: Array, labels: Array) -> tuple[Any, Cache]:
        return super().forward(logits, labels)[0], (logits, labels)

    def backward(self, dloss: Array | float, cache: Cache) -> Array:
        logits, labels = cache
        return (Softmax()(logits.T).T - np.eye(logits.shape[1])[labels]) * (dloss / len(labels))


class ChoicesOfAllQuestionsCompete(BertForMultipleChoice):
    """Backward has the softmax over the questions."""

    def __init__(self, config: BertConfig, **options: Any) -> None:
        super().__init__(config, **options)
        self.loss_function = _SoftmaxOverQuestions()


class PaddingIsDividedBy(BertForTokenClassification):
    """Backward has the mean over all tokens, forward that over the targets."""

    def __init__(self, config: BertConfig, **options: Any) -> None:
        super().__init__(config, **options)
        self.loss_function = DividedByAllPositions()


class PaddingWatersDownTheLoss(BertForTokenClassification):
    """The mean is over all tokens, forward and backward: the derivative is right, and the loss is not."""

    def __init__(self, config: BertConfig, **options: Any) -> None:
        super().__init__(config, **options)
        self.loss_function = PaddingIsCounted()


class PaddingIsATarget(BertForTokenClassification):
    """−100 becomes class 0."""

    def check_targets(self, batch: Batch) -> Array:
        labels = super().check_targets(batch)
        return np.where(labels == IGNORED, 0, labels)


class _UnscaledSquaredError(MeanSquaredError):
    def backward(self, dloss: Array | float, difference: Array) -> tuple[Array, Array]:
        return difference * dloss, -difference * dloss


class SquaredErrorWithoutItsFactor(BertForSequenceClassification):
    """The 2/N of a mean of squares is forgotten."""

    def __init__(self, config: BertConfig, **options: Any) -> None:
        super().__init__(config, **options)
        self.loss_function = _UnscaledSquaredError()


class GradientOfTheTargets(BertForSequenceClassification):
    """The squared error hands back two gradients, and the model takes the second."""

    def backward_logits(self, dlogits: Any, cache: Cache) -> None:
        super().backward_logits(dlogits[::-1], cache)


class _NotUndone(Layer):
    """A dropout whose backward hands on what it is given."""

    def __init__(self, dropout: Layer) -> None:
        self.dropout = dropout

    def forward(self, x: Array, rng: np.random.Generator | None = None) -> tuple[Array, Cache]:
        return self.dropout.forward(x, rng)

    def backward(self, dy: Array, cache: Cache) -> Array:
        return dy


def forgetting_dropout(model_class: type[TaskModel]) -> type[Any]:
    """The model without the backward of the dropout before its classifier."""

    class Forgetting(model_class):  # type: ignore[misc, valid-type]
        def __init__(self, config: BertConfig, **options: Any) -> None:
            super().__init__(config, **options)
            self.dropout = _NotUndone(self.dropout)

    Forgetting.__name__ = f"Forgetting{model_class.__name__}"
    return Forgetting


def ignoring_dloss(model_class: type[TaskModel]) -> type[Any]:
    """The model with 1 for the gradient of its loss, whatever the caller hands in."""

    class Ignoring(model_class):  # type: ignore[misc, valid-type]
        def backward(self, cache: Cache, dloss: float = 1.0) -> None:
            super().backward(cache)

    Ignoring.__name__ = f"Ignoring{model_class.__name__}"
    return Ignoring


class EveryTokenCounts(MeanPooling):
    """Backward divides by T, where forward divided by the number of real tokens."""

    def backward(self, dy: Array, weights: Cache) -> Array:
        return super().backward(dy, (weights != 0) / np.full_like(weights, weights.shape[1]))


class PaddingLearns(MeanPooling):
    """Padding gets the same gradient as the real tokens."""

    def backward(self, dy: Array, weights: Cache) -> Array:
        return super().backward(dy, np.broadcast_to(weights.max(axis=1, keepdims=True), weights.shape))


class PaddingIsPooled(MeanPooling):
    """The mean over all T tokens, forward and backward: the derivative is right."""

    def forward(self, x: Array, attention_mask: Array) -> tuple[Array, Cache]:
        return super().forward(x, np.ones_like(attention_mask))
