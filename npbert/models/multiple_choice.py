"""BertForMultipleChoice: which of several sequences is the right one?"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Tape
from npbert.core.checks import check_labels
from npbert.data.batch import Batch
from npbert.layers import Dropout, Linear, SoftmaxCrossEntropy
from npbert.models.bert import BertModel
from npbert.models.config import BertConfig
from npbert.models.packed_batch import PackedBatch, check_is_batch, first_places
from npbert.models.task_model import TaskModel, labels_of


class BertForMultipleChoice(TaskModel):
    """score of a choice = Dropout(pooled) w + b  with  pooled = BertModel(choice).pooler_output.

    batch of (B, C, T) -> logits (B, C), the scores of the C choices   w (D, 1)   labels (B,) integers below C

    Every choice goes through BERT by itself; they meet in the softmax of the loss. (Devlin et al. 2018, section 4.4,
    SWAG; the bias, which softmax does not notice, is Hugging Face's.)

    rng: where the initial weights are drawn from; None leaves them 0, for a model about to be loaded.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype)
        self.dropout = Dropout(config.head_dropout)
        self.classifier = Linear(config.hidden_size, 1, Init(rng, config.initializer_range, dtype))
        self.loss_function = SoftmaxCrossEntropy()

    def forward(self, batch: Batch, tape: Tape = NO_TAPE) -> Array:
        check_is_batch(batch, "(B, C, T)")
        choices = batch.flattened()  # (B·C, T)
        packed = PackedBatch(choices, self.config, first_places(choices))
        pooled = self.bert.pool(self.bert.encode(packed, tape), packed, tape)  # (B·C, D)
        scores = self.classifier.forward(self.dropout.forward(pooled, tape), tape)  # (B·C, 1)
        return scores.reshape(batch.input_ids.shape[:2])

    def backward(self, dlogits: Array, tape: Tape) -> None:
        """Back through the classifier and the pooler to the [CLS] of each choice, and on through BERT."""
        dpooled = self.dropout.backward(self.classifier.backward(dlogits.reshape(-1, 1), tape), tape)
        self.bert.encode_backward(self.bert.pool_backward(dpooled, tape), tape)

    def check_targets(self, batch: Batch) -> Array:
        """The labels (B,)."""
        check_is_batch(batch, "(B, C, T)")
        labels = labels_of(batch, batch.input_ids.shape[:1])
        check_labels(labels, batch.input_ids.shape[1], limit_name="the number of choices")
        return labels
