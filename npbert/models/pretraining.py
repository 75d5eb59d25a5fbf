"""BertForPreTraining: BERT with the two tasks that it learns from plain text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from npbert.blocks import NextSentenceHead
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Tape
from npbert.core.checks import check_ids
from npbert.data.batch import Batch
from npbert.layers import Gather, SoftmaxCrossEntropy, Unpack, count_right
from npbert.models.bert import BertModel
from npbert.models.config import BertConfig
from npbert.models.masked_lm import masked_labels, masked_lm_head, predicted_places
from npbert.models.packed_batch import PackedBatch, check_is_batch, first_places
from npbert.models.pretrained import PreTrainedModel


class PreTrainingOutput(NamedTuple):
    """prediction_logits (M, V) for the M tokens with a label, or (B, T, V) when the batch has no labels;
    seq_relationship_logits (B, 2)."""

    prediction_logits: Array
    seq_relationship_logits: Array


class PreTrainingLosses(NamedTuple):
    """loss = mlm_loss + nsp_loss, in nats; knowing nothing costs ln V and ln 2.

    mlm_right, nsp_right: for how many masked words, and sentence pairs, the right answer was the most probable.
    """

    loss: Any
    mlm_loss: Any
    nsp_loss: Any
    mlm_right: int
    nsp_right: int

    @property
    def means(self) -> tuple[Any, ...]:
        """Both losses."""
        return self.mlm_loss, self.nsp_loss

    @property
    def counts_right(self) -> tuple[int, ...]:
        """How many were right, for each of `means`."""
        return self.mlm_right, self.nsp_right


class BertForPreTraining(PreTrainedModel):
    """BertModel with a masked-LM head on the masked tokens and a next-sentence head on the pooled vector.

    batch -> (prediction_logits, seq_relationship_logits (B, 2)). With labels in the batch, the M tokens that have one
    get prediction_logits (M, V); without, all get them, (B, T, V), 0 for padding.

    The decoder of the masked-LM head is the word embeddings' table itself. (Devlin et al. 2018, section 3.1 and
    appendix A.2: the loss is the sum of the two mean negative log-likelihoods.)

    rng: where the initial weights are drawn from; None leaves them 0, for a model about to be loaded.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype)
        init = Init(rng, config.initializer_range, dtype)
        self.predictions = masked_lm_head(self.bert, init)
        self.seq_relationship = NextSentenceHead(config.hidden_size, init)
        self.gather, self.unpack = Gather(), Unpack()
        self.cross_entropy = SoftmaxCrossEntropy()

    def forward(self, batch: Batch, tape: Tape = NO_TAPE) -> PreTrainingOutput:
        predicted = predicted_places(batch)
        packed = PackedBatch(batch, self.config, np.concatenate([first_places(batch), predicted]))
        h = self.bert.encode(packed, tape)

        relationship_logits = self.seq_relationship.forward(self.bert.pool(h, packed, tape), tape)  # (B, 2)
        masked = self.gather.forward(h, packed.where(predicted), tape)
        prediction_logits = self.predictions.forward(masked, tape)  # (M, V)
        if batch.labels is None:
            prediction_logits = self.unpack.forward(prediction_logits, predicted, packed.shape, tape)
        return PreTrainingOutput(prediction_logits, relationship_logits)

    def backward(self, doutput: tuple[Array, Array], tape: Tape) -> None:
        """Both heads read BERT's hidden state, so its gradient is the sum of what comes back from both."""
        dprediction_logits, drelationship_logits = doutput
        if dprediction_logits.ndim == 3:
            dprediction_logits = self.unpack.backward(dprediction_logits, tape)
        dmasked = self.predictions.backward(dprediction_logits, tape)
        dh = self.gather.backward(dmasked, tape)

        dpooled = self.seq_relationship.backward(drelationship_logits, tape)
        self.bert.encode_backward(dh + self.bert.pool_backward(dpooled, tape), tape)

    def loss(self, batch: Batch, tape: Tape = NO_TAPE) -> PreTrainingLosses:
        """The mean loss over the masked tokens, the mean over the sequences, and their sum.

        Raises, before anything is computed: ValueError when labels or next_sentence_label are missing, when labels is
        not (B, T), one is on padding, or no token has one; TypeError when they are not integers; IndexError when one is
        out of range; and what PackedBatch raises.
        """
        labels, next_sentence_label = self._check_targets(batch)
        output = self.forward(batch, tape)
        mlm_loss = self.cross_entropy.forward(output.prediction_logits, labels, tape)
        nsp_loss = self.cross_entropy.forward(output.seq_relationship_logits, next_sentence_label, tape)
        return PreTrainingLosses(
            mlm_loss + nsp_loss,
            mlm_loss,
            nsp_loss,
            count_right(output.prediction_logits, labels),
            count_right(output.seq_relationship_logits, next_sentence_label),
        )

    def loss_backward(self, dloss: float | tuple[float, float], tape: Tape) -> None:
        """From the loss back to every parameter. The sum hands `dloss` to both losses.

        dloss: the derivative of what is minimised with respect to this loss, 1 when it is the loss itself; or a pair,
        with respect to mlm_loss and to nsp_loss.
        """
        dmlm_loss, dnsp_loss = dloss if isinstance(dloss, tuple) else (dloss, dloss)
        drelationship_logits = self.cross_entropy.backward(dnsp_loss, tape)
        dprediction_logits = self.cross_entropy.backward(dmlm_loss, tape)
        self.backward((dprediction_logits, drelationship_logits), tape)

    def target_counts(self, batch: Batch) -> tuple[int, int]:
        """Over how many targets mlm_loss and nsp_loss are means. Raises: as loss."""
        labels, next_sentence_label = self._check_targets(batch)
        return len(labels), len(next_sentence_label)

    def _check_targets(self, batch: Batch) -> tuple[Array, Array]:
        """The labels of the masked tokens (M,) and of the sequences (B,)."""
        check_is_batch(batch)
        if batch.labels is None or batch.next_sentence_label is None:
            missing = "labels" if batch.labels is None else "next_sentence_label"
            raise ValueError(f"the loss of pre-training needs labels and next_sentence_label: {missing} is missing")
        check_ids(batch.next_sentence_label, 2, name="next_sentence_label", limit_name="the number of classes")
        return masked_labels(batch, self.config), batch.next_sentence_label
