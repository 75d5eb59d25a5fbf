"""BertForSequenceClassification: one label, or one number, for a sentence or a pair of sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from npbert.data.batch import Batch
from npbert.layers import Array, Cache, Dropout, Linear, MeanSquaredError, SoftmaxCrossEntropy
from npbert.layers.checks import check_labels
from npbert.models.bert import NO_TOKENS, BertModel, check_batch
from npbert.models.config import BertConfig
from npbert.models.task_model import TaskModel, labels_of


class BertForSequenceClassification(TaskModel):
    """logits = Dropout(pooled) W + b  with  pooled = BertModel(batch).pooler_output.

    batch -> logits (B, C)   W (D, C)   labels (B,) integers below C

    With C = 1 it is a regression: the labels are numbers, and the loss is the mean squared error. (Devlin et al. 2018,
    section 4.1.)

    rng: in the constructor, where the initial weights are drawn from; None leaves them 0, for a model about to be
    loaded. In forward and loss, where dropout is drawn from; None means evaluation.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype)
        self.dropout = Dropout(config.head_dropout)
        self.classifier = Linear(
            config.hidden_size, config.num_labels, rng=rng, initializer_range=config.initializer_range, dtype=dtype
        )
        self.loss_function = MeanSquaredError() if config.num_labels == 1 else SoftmaxCrossEntropy()

    def __call__(self, batch: Batch) -> Array:
        """As forward, but what a layer keeps for backward is dropped before the next layer runs."""
        logits: Array = self.classifier(self.bert(batch, None, NO_TOKENS).pooler_output)
        return logits

    def forward(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[Array, Cache]:
        (_, pooled), bert_cache = self.bert.forward(batch, rng, NO_TOKENS)
        pooled, dropout_cache = self.dropout.forward(pooled, rng)
        logits, classifier_cache = self.classifier.forward(pooled)
        return logits, (bert_cache, dropout_cache, classifier_cache)

    def backward_logits(self, dlogits: Any, cache: Cache) -> None:
        bert_cache, dropout_cache, classifier_cache = cache
        if self.config.num_labels == 1:
            dlogits, _ = dlogits  # the squared error has a gradient for its target, too
        dpooled = self.classifier.backward(dlogits, classifier_cache)
        dpooled = self.dropout.backward(dpooled, dropout_cache)
        self.bert.backward((None, dpooled), bert_cache)

    def check_targets(self, batch: Batch) -> Array:
        """The labels (B,) of a classification, or (B, 1), in the dtype of the model, of a regression."""
        check_batch(batch, self.config)
        labels = labels_of(batch, batch.input_ids.shape[:1])
        if self.config.num_labels == 1:
            return labels[:, None].astype(self.classifier.weight.value.dtype)
        check_labels(labels, self.config.num_labels, limit_name="num_labels")
        return labels
