"""BertForMaskedLM: BERT that fills in masked words."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.data.batch import Batch
from npbert.layers import IGNORED, Array, Cache, MaskedLMHead, SoftmaxCrossEntropy
from npbert.layers.checks import check_labels
from npbert.models.bert import BertModel, check_batch, check_sequences
from npbert.models.config import BertConfig
from npbert.models.task_model import TaskModel, labels_of


class BertForMaskedLM(TaskModel):
    """logits = MaskedLMHead(h at the predicted positions)  with  h = BertModel(batch), which needs no pooler.

    batch -> logits. With labels in the batch, (B, T) with −100 where nothing is to be predicted, the M other positions
    get logits (M, V); without labels, all get them, (B, T, V).

    The decoder is the token table itself. (Devlin et al. 2018, section 3.1, task 1.)

    rng: in the constructor, where the initial weights are drawn from; None leaves them 0, for a model about to be
    loaded. In forward and loss, where dropout is drawn from; None means evaluation.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype, add_pooling_layer=False)
        self.predictions = masked_lm_head(self.bert, rng=rng, dtype=dtype)
        self.loss_function = SoftmaxCrossEntropy()

    def __call__(self, batch: Batch) -> Array:
        """As forward, but what a layer keeps for backward is dropped before the next layer runs."""
        hidden, _ = self.bert(batch, None, predicted_positions(batch))
        return per_position(self.predictions(hidden), batch)

    def forward(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[Array, Cache]:
        (masked, _), bert_cache = self.bert.forward(batch, rng, predicted_positions(batch))  # (M, D)
        logits, predictions_cache = self.predictions.forward(masked)  # (M, V)
        return per_position(logits, batch), (bert_cache, predictions_cache)

    def backward_logits(self, dlogits: Array, cache: Cache) -> None:
        bert_cache, predictions_cache = cache
        dmasked = self.predictions.backward(dlogits, predictions_cache)
        self.bert.backward((dmasked, None), bert_cache)

    def check_targets(self, batch: Batch) -> Array:
        """The labels of the masked positions (M,)."""
        check_batch(batch, self.config)
        labels = labels_of(batch, batch.input_ids.shape)
        check_labels(labels, self.config.vocab_size, limit_name="vocab_size")
        return labels.reshape(-1)[predicted_positions(batch)]


def masked_lm_head(bert: BertModel, *, rng: np.random.Generator | None, dtype: DTypeLike) -> MaskedLMHead:
    """The head for a BERT: its decoder is the token table of that BERT."""
    return MaskedLMHead(
        bert.embeddings.word_embeddings.weight,
        activation=bert.config.hidden_act,
        layer_norm_eps=bert.config.layer_norm_eps,
        rng=rng,
        initializer_range=bert.config.initializer_range,
        dtype=dtype,
    )


def predicted_positions(batch: Batch) -> Array:
    """Which of the B·T positions get logits: those with a label, or all when there are no labels.

    Raises: TypeError or ValueError for what is no Batch (B, T), or labels of another shape.
    """
    check_sequences(batch)
    if batch.labels is None:
        return np.arange(batch.input_ids.size)
    return np.flatnonzero(labels_of(batch, batch.input_ids.shape) != IGNORED)


def per_position(logits: Array, batch: Batch) -> Array:
    """logits (M, V) as they are, or as (B, T, V) when there are no labels."""
    return logits if batch.labels is not None else logits.reshape(*batch.input_ids.shape, -1)
