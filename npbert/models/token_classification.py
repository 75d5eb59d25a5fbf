"""BertForTokenClassification: a label for every token, as in named-entity recognition."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Tape
from npbert.core.checks import check_labels
from npbert.data.batch import Batch
from npbert.layers import Dropout, Linear, SoftmaxCrossEntropy, Unpack
from npbert.models.bert import BertModel
from npbert.models.config import BertConfig
from npbert.models.packed_batch import PackedBatch, check_is_batch
from npbert.models.task_model import TaskModel, labels_of


class BertForTokenClassification(TaskModel):
    """logits = Dropout(h) W + b  with  h = BertModel(batch).last_hidden_state, without a pooler.

    batch -> logits (B, T, C), 0 for padding   W (D, C)   labels (B, T) integers below C, −100 for a token without one

    Of a word that is cut into several tokens, only the first has a label. (Devlin et al. 2018, section 5.3 and appendix
    A.5.)

    rng: where the initial weights are drawn from; None leaves them 0, for a model about to be loaded.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype, add_pooling_layer=False)
        self.dropout = Dropout(config.head_dropout)
        self.classifier = Linear(config.hidden_size, config.num_labels, Init(rng, config.initializer_range, dtype))
        self.unpack = Unpack()
        self.loss_function = SoftmaxCrossEntropy()

    def forward(self, batch: Batch, tape: Tape = NO_TAPE) -> Array:
        packed = PackedBatch(batch, self.config)
        h = self.dropout.forward(self.bert.encode(packed, tape), tape)  # (N, D)
        logits = self.classifier.forward(h, tape)  # (N, C)
        return self.unpack.forward(logits, packed.places, packed.shape, tape)

    def backward(self, dlogits: Array, tape: Tape) -> None:
        """Back through the classifier, and on through BERT."""
        dh = self.classifier.backward(self.unpack.backward(dlogits, tape), tape)
        self.bert.encode_backward(self.dropout.backward(dh, tape), tape)

    def check_targets(self, batch: Batch) -> Array:
        """The label of each token (B·T,)."""
        check_is_batch(batch)
        labels = labels_of(batch, batch.input_ids.shape)
        check_labels(labels, self.config.num_labels, limit_name="num_labels")
        return labels.reshape(-1)
