"""BertForMultipleChoice: which of several sequences is the right one?"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.data.batch import Batch
from npbert.layers import Array, Cache, Dropout, Linear, SoftmaxCrossEntropy
from npbert.layers.checks import check_labels
from npbert.models.bert import NO_TOKENS, BertModel, check_batch, check_is_batch
from npbert.models.config import BertConfig
from npbert.models.task_model import TaskModel, labels_of


class BertForMultipleChoice(TaskModel):
    """score of a choice = Dropout(pooled) w + b  with  pooled = BertModel(choice).pooler_output.

    batch of (B, C, T) -> logits (B, C), the scores of the C choices   w (D, 1)   labels (B,) integers below C

    Every choice goes through BERT by itself; they meet in the softmax of the loss. (Devlin et al. 2018, section 4.4,
    SWAG; the bias, which softmax does not notice, is Hugging Face's.)

    rng: in the constructor, where the initial weights are drawn from; None leaves them 0, for a model about to be
    loaded. In forward and loss, where dropout is drawn from; None means evaluation.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype)
        self.dropout = Dropout(config.head_dropout)
        self.classifier = Linear(
            config.hidden_size, 1, rng=rng, initializer_range=config.initializer_range, dtype=dtype
        )
        self.loss_function = SoftmaxCrossEntropy()

    def __call__(self, batch: Batch) -> Array:
        """As forward, but what a layer keeps for backward is dropped before the next layer runs."""
        scores: Array = self.classifier(self.bert(_one_a_row(batch), None, NO_TOKENS).pooler_output)
        return scores.reshape(batch.input_ids.shape[:2])

    def forward(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[Array, Cache]:
        (_, pooled), bert_cache = self.bert.forward(_one_a_row(batch), rng, NO_TOKENS)  # (B·C, D)
        pooled, dropout_cache = self.dropout.forward(pooled, rng)
        scores, classifier_cache = self.classifier.forward(pooled)  # (B·C, 1)
        return scores.reshape(batch.input_ids.shape[:2]), (bert_cache, dropout_cache, classifier_cache)

    def backward_logits(self, dlogits: Array, cache: Cache) -> None:
        bert_cache, dropout_cache, classifier_cache = cache
        dpooled = self.classifier.backward(dlogits.reshape(-1, 1), classifier_cache)
        dpooled = self.dropout.backward(dpooled, dropout_cache)
        self.bert.backward((None, dpooled), bert_cache)

    def check_targets(self, batch: Batch) -> Array:
        """The labels (B,)."""
        check_batch(_one_a_row(batch), self.config)
        labels = labels_of(batch, batch.input_ids.shape[:1])
        check_labels(labels, batch.input_ids.shape[1], limit_name="the number of choices")
        return labels


def _one_a_row(batch: Batch) -> Batch:
    """The choices as sequences of their own: (B, C, T) -> (B·C, T)."""
    check_is_batch(batch)
    if batch.input_ids.ndim != 3:
        raise ValueError(f"input_ids has shape {batch.input_ids.shape}, wanted (B, C, T): C choices for each question")
    arrays = batch.input_ids, batch.token_type_ids, batch.attention_mask
    return Batch(*(array.reshape(-1, array.shape[-1]) for array in arrays))
