"""BertForPreTraining: BERT with the two tasks that it learns from plain text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from npbert.data.batch import Batch
from npbert.layers import IGNORED, Array, Cache, NextSentenceHead, SoftmaxCrossEntropy
from npbert.layers.checks import check_ids, check_labels
from npbert.models.bert import BertModel, check_batch
from npbert.models.config import BertConfig
from npbert.models.masked_lm import masked_lm_head, per_position, predicted_positions
from npbert.models.pretrained import PreTrainedModel


class PreTrainingOutput(NamedTuple):
    """prediction_logits (M, V) for the M positions with a label, or (B, T, V) when the batch has no labels;
    seq_relationship_logits (B, 2)."""

    prediction_logits: Array
    seq_relationship_logits: Array


class PreTrainingLosses(NamedTuple):
    """loss = mlm_loss + nsp_loss, in nats. Knowing nothing costs ln V and ln 2."""

    loss: float
    mlm_loss: float
    nsp_loss: float


class BertForPreTraining(PreTrainedModel):
    """BertModel with a masked-LM head on the masked positions and a next-sentence head on the pooled vector.

    batch -> (prediction_logits, seq_relationship_logits (B, 2)). With labels in the batch, the M positions that have
    one get prediction_logits (M, V); without, all get them, (B, T, V).

    The decoder of the masked-LM head is the token table itself. (Devlin et al. 2018, section 3.1 and appendix A.2: the
    loss is the sum of the two mean negative log-likelihoods.)

    rng: in the constructor, where the initial weights are drawn from; None leaves them 0, for a model about to be
    loaded. In forward and loss, where dropout is drawn from; None means evaluation.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype)
        self.predictions = masked_lm_head(self.bert, rng=rng, dtype=dtype)
        self.seq_relationship = NextSentenceHead(
            config.hidden_size, rng=rng, initializer_range=config.initializer_range, dtype=dtype
        )
        self.cross_entropy = SoftmaxCrossEntropy()

    def __call__(self, batch: Batch) -> PreTrainingOutput:
        """As forward, but what a layer keeps for backward is dropped before the next layer runs."""
        hidden, pooled = self.bert(batch, None, predicted_positions(batch))
        logits = self.predictions(hidden)
        return PreTrainingOutput(per_position(logits, batch), self.seq_relationship(pooled))

    def forward(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[PreTrainingOutput, Cache]:
        (masked, pooled), bert_cache = self.bert.forward(batch, rng, predicted_positions(batch))  # (M, D), (B, D)
        prediction_logits, predictions_cache = self.predictions.forward(masked)  # (M, V)
        relationship_logits, relationship_cache = self.seq_relationship.forward(pooled)
        cache = bert_cache, predictions_cache, relationship_cache
        return PreTrainingOutput(per_position(prediction_logits, batch), relationship_logits), cache

    def loss(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[PreTrainingLosses, Cache]:
        """The mean loss over the masked positions, the mean over the sequences, and their sum.

        Raises, before anything is computed: ValueError when labels or next_sentence_label are missing, when labels is
        not (B, T) or no position is masked; TypeError when they are not integers; IndexError when one is out of range;
        and what BertModel raises.
        """
        labels, next_sentence_label = self._check_targets(batch)
        output, forward_cache = self.forward(batch, rng)
        mlm_loss, mlm_cache = self.cross_entropy.forward(output.prediction_logits, labels)
        nsp_loss, nsp_cache = self.cross_entropy.forward(output.seq_relationship_logits, next_sentence_label)
        return PreTrainingLosses(mlm_loss + nsp_loss, mlm_loss, nsp_loss), (forward_cache, mlm_cache, nsp_cache)

    def backward(self, cache: Cache, dloss: float | tuple[float, float] = 1.0) -> None:
        """From the loss back to every parameter. The sum hands `dloss` to both tasks; at BERT they meet again.

        cache: that of `loss`, of which forward's own is a part. dloss: the derivative of what is minimised with respect
        to this loss, 1 when it is the loss itself; or a pair, with respect to mlm_loss and to nsp_loss.
        """
        dmlm_loss, dnsp_loss = dloss if isinstance(dloss, tuple) else (dloss, dloss)
        (bert_cache, predictions_cache, relationship_cache), mlm_cache, nsp_cache = cache
        dpooled = self.seq_relationship.backward(self.cross_entropy.backward(dnsp_loss, nsp_cache), relationship_cache)
        dmasked = self.predictions.backward(self.cross_entropy.backward(dmlm_loss, mlm_cache), predictions_cache)
        self.bert.backward((dmasked, dpooled), bert_cache)

    def target_counts(self, batch: Batch) -> tuple[int, int]:
        """Over how many targets mlm_loss and nsp_loss are means. Raises: as loss."""
        labels, next_sentence_label = self._check_targets(batch)
        return len(labels), int((next_sentence_label != IGNORED).sum())

    def count_right(self, cache: Cache) -> tuple[int, int]:
        """How many masked words and sentence pairs were the most probable, from the cache of `loss`."""
        _, mlm_cache, nsp_cache = cache
        return self.cross_entropy.count_right(mlm_cache), self.cross_entropy.count_right(nsp_cache)

    def _check_targets(self, batch: Batch) -> tuple[Array, Array]:
        """The labels of the masked positions (M,) and of the sequences (B,)."""
        check_batch(batch, self.config)
        if batch.labels is None or batch.next_sentence_label is None:
            missing = "labels" if batch.labels is None else "next_sentence_label"
            raise ValueError(f"the loss of pre-training needs labels and next_sentence_label: {missing} is missing")
        check_ids(batch.next_sentence_label, 2, name="next_sentence_label", limit_name="the number of classes")
        positions = predicted_positions(batch)
        check_labels(batch.labels, self.config.vocab_size, limit_name="vocab_size")
        return batch.labels.reshape(-1)[positions], batch.next_sentence_label
