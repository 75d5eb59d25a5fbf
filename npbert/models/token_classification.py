"""BertForTokenClassification: a label for every token, as in named-entity recognition."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.data.batch import Batch
from npbert.layers import Array, Cache, Dropout, Linear, SoftmaxCrossEntropy
from npbert.layers.checks import check_labels
from npbert.models.bert import BertModel, check_batch
from npbert.models.config import BertConfig
from npbert.models.task_model import TaskModel, labels_of


class BertForTokenClassification(TaskModel):
    """logits = Dropout(h) W + b  with  h = BertModel(batch).last_hidden_state, without a pooler.

    batch -> logits (B, T, C)   W (D, C)   labels (B, T) integers below C, −100 for a token that has none

    Of a word that is cut into several tokens, only the first has a label. (Devlin et al. 2018, section 5.3 and appendix
    A.5.)

    rng: in the constructor, where the initial weights are drawn from; None leaves them 0, for a model about to be
    loaded. In forward and loss, where dropout is drawn from; None means evaluation.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype, add_pooling_layer=False)
        self.dropout = Dropout(config.head_dropout)
        self.classifier = Linear(
            config.hidden_size, config.num_labels, rng=rng, initializer_range=config.initializer_range, dtype=dtype
        )
        self.loss_function = SoftmaxCrossEntropy()

    def __call__(self, batch: Batch) -> Array:
        """As forward, but what a layer keeps for backward is dropped before the next layer runs."""
        logits: Array = self.classifier(self.bert(batch).last_hidden_state)
        return logits

    def forward(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[Array, Cache]:
        (hidden, _), bert_cache = self.bert.forward(batch, rng)
        hidden, dropout_cache = self.dropout.forward(hidden, rng)
        logits, classifier_cache = self.classifier.forward(hidden)
        return logits, (bert_cache, dropout_cache, classifier_cache)

    def backward_logits(self, dlogits: Array, cache: Cache) -> None:
        bert_cache, dropout_cache, classifier_cache = cache
        dhidden = self.classifier.backward(dlogits, classifier_cache)
        dhidden = self.dropout.backward(dhidden, dropout_cache)
        self.bert.backward((dhidden, None), bert_cache)

    def check_targets(self, batch: Batch) -> Array:
        """The labels (B, T)."""
        check_batch(batch, self.config)
        labels = labels_of(batch, batch.input_ids.shape)
        check_labels(labels, self.config.num_labels, limit_name="num_labels")
        return labels
