"""BertForMaskedLM: BERT that fills in masked words."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.blocks import MaskedLMHead
from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Init, Tape
from npbert.core.checks import check_labels
from npbert.data.batch import Batch
from npbert.layers import Gather, SoftmaxCrossEntropy, Unpack
from npbert.models.bert import BertModel
from npbert.models.config import BertConfig
from npbert.models.packed_batch import PackedBatch, check_is_batch
from npbert.models.task_model import TaskModel, labels_of


class BertForMaskedLM(TaskModel):
    """logits = MaskedLMHead(h of the predicted tokens)  with  h = BertModel(batch), which needs no pooler.

    batch -> logits. With labels in the batch, (B, T) with −100 where nothing is to be predicted, the M other tokens get
    logits (M, V); without labels, all get them, (B, T, V), 0 for padding.

    The decoder is the word embeddings' table itself. (Devlin et al. 2018, section 3.1, task 1.)

    rng: where the initial weights are drawn from; None leaves them 0, for a model about to be loaded.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype, add_pooling_layer=False)
        self.predictions = masked_lm_head(self.bert, Init(rng, config.initializer_range, dtype))
        self.gather, self.unpack = Gather(), Unpack()
        self.loss_function = SoftmaxCrossEntropy()

    def forward(self, batch: Batch, tape: Tape = NO_TAPE) -> Array:
        predicted = predicted_places(batch)
        packed = PackedBatch(batch, self.config, predicted)
        h = self.bert.encode(packed, tape)
        logits = self.predictions.forward(self.gather.forward(h, packed.where(predicted), tape), tape)  # (M, V)
        if batch.labels is None:
            logits = self.unpack.forward(logits, predicted, packed.shape, tape)
        return logits

    def backward(self, dlogits: Array, tape: Tape) -> None:
        """Back through the head, to the rows that it read, and on through BERT."""
        if dlogits.ndim == 3:
            dlogits = self.unpack.backward(dlogits, tape)
        dh = self.gather.backward(self.predictions.backward(dlogits, tape), tape)
        self.bert.encode_backward(dh, tape)

    def check_targets(self, batch: Batch) -> Array:
        """The labels of the masked tokens (M,)."""
        return masked_labels(batch, self.config)


def masked_lm_head(bert: BertModel, init: Init) -> MaskedLMHead:
    """The head for a BERT: its decoder is the table of that BERT's word embeddings."""
    return MaskedLMHead(
        bert.embeddings.word_embeddings.weight,
        init,
        activation=bert.config.hidden_act,
        layer_norm_eps=bert.config.layer_norm_eps,
    )


def predicted_places(batch: Batch) -> Array:
    """Which of the B·T tokens get logits: those with a label, or all that are real when there are no labels.

    Raises: TypeError or ValueError for what is no Batch (B, T), or labels of another shape or on padding.
    """
    check_is_batch(batch)
    if batch.labels is None:
        return np.flatnonzero(batch.attention_mask)
    return np.flatnonzero(labels_of(batch, batch.input_ids.shape) != IGNORED)


def masked_labels(batch: Batch, config: BertConfig) -> Array:
    """The labels of the masked tokens (M,). Raises: as `loss` does."""
    check_is_batch(batch)
    labels = labels_of(batch, batch.input_ids.shape)
    check_labels(labels, config.vocab_size, limit_name="vocab_size")
    return labels[labels != IGNORED]
