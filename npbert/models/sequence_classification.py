"""BertForSequenceClassification: one label, or one number, for a sentence or a pair of sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Tape
from npbert.core.checks import check_labels
from npbert.data.batch import Batch
from npbert.layers import Dropout, Linear, MeanSquaredError, SoftmaxCrossEntropy
from npbert.models.bert import BertModel
from npbert.models.config import BertConfig
from npbert.models.packed_batch import PackedBatch, check_is_batch, first_places
from npbert.models.task_model import TaskModel, labels_of


class BertForSequenceClassification(TaskModel):
    """logits = Dropout(pooled) W + b  with  pooled = BertModel(batch).pooler_output.

    batch -> logits (B, C)   W (D, C)   labels (B,) integers below C

    With C = 1 it is a regression: the labels are numbers, and the loss is the mean squared error. (Devlin et al. 2018,
    section 4.1.)

    rng: where the initial weights are drawn from; None leaves them 0, for a model about to be loaded.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype)
        self.dropout = Dropout(config.head_dropout)
        self.classifier = Linear(config.hidden_size, config.num_labels, Init(rng, config.initializer_range, dtype))
        self.loss_function = MeanSquaredError() if config.num_labels == 1 else SoftmaxCrossEntropy()

    def forward(self, batch: Batch, tape: Tape = NO_TAPE) -> Array:
        check_is_batch(batch)
        packed = PackedBatch(batch, self.config, first_places(batch))
        pooled = self.bert.pool(self.bert.encode(packed, tape), packed, tape)  # (B, D)
        return self.classifier.forward(self.dropout.forward(pooled, tape), tape)

    def backward(self, dlogits: Array, tape: Tape) -> None:
        """Back through the classifier and the pooler to the [CLS] of each sequence, and on through BERT."""
        dpooled = self.dropout.backward(self.classifier.backward(dlogits, tape), tape)
        self.bert.encode_backward(self.bert.pool_backward(dpooled, tape), tape)

    def check_targets(self, batch: Batch) -> Array:
        """The labels (B,) of a classification, or (B, 1), in the dtype of the model, of a regression."""
        check_is_batch(batch)
        labels = labels_of(batch, batch.input_ids.shape[:1])
        if self.config.num_labels == 1:
            return labels[:, None].astype(self.classifier.weight.value.dtype)
        check_labels(labels, self.config.num_labels, limit_name="num_labels")
        return labels
