"""BertForPreTraining: BERT with its two tasks on plain text. BertForMaskedLM: only the first."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from npbert.blocks import MaskedLMHead, NextSentenceHead
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Tape
from npbert.display import shown_in_short
from npbert.layers import SoftmaxCrossEntropy
from npbert.models.heads import HeadModel, TaskLoss
from npbert.models.packed_batch import AnyBatch, PackedBatch, Reads


class BertForMaskedLM(HeadModel):
    """logits = MaskedLMHead(h of the predicted tokens)  with  h = BertModel(batch), which needs no pooler.

    batch -> logits. With labels in the batch, (B, T) with −100 for no target, the n other tokens get logits (n, V);
    without labels, all tokens get them, (B, T, V), 0 for padding.

    The decoder is the table of word embeddings itself. (Devlin et al. 2018, section 3.1, task 1.)
    """

    reads, head_name = Reads("labelled", "word"), "predictions"
    loss_function: SoftmaxCrossEntropy

    def add_head(self, init: Init) -> None:
        config = self.config
        self.predictions = MaskedLMHead(
            self.bert.embeddings.word_embeddings.weight,
            replace(init, bias=config.architecture.biases != "none"),
            activation=config.architecture.words_act or config.hidden_act,
            layer_norm_eps=config.layer_norm_eps,
            hidden_size=config.hidden_size,
        )


@shown_in_short
class PreTrainingOutput(NamedTuple):
    """prediction_logits (n, V) for the n tokens with a label, or (B, T, V) when the batch has no labels;
    seq_relationship_logits (B, 2)."""

    prediction_logits: Array
    seq_relationship_logits: Array


class PreTrainingLosses(TaskLoss):
    """loss = mlm_loss + nsp_loss, in nats; random guessing has ln V and ln 2. Both means are in this order."""

    @property
    def mlm_loss(self) -> float:
        """The mean loss over the masked tokens."""
        return self.means[0]

    @property
    def nsp_loss(self) -> float:
        """The mean loss over the sentence pairs."""
        return self.means[1]


class BertForPreTraining(BertForMaskedLM):
    """A BertForMaskedLM with a second head, for the next sentence, on the pooled vector.

    batch -> (prediction_logits, seq_relationship_logits (B, 2)). With labels in the batch, the n tokens with a label
    get prediction_logits (n, V); without, all tokens get them, (B, T, V), 0 for padding.

    (Devlin et al. 2018, section 3.1 and appendix A.2: the loss is the sum of the two mean negative log-likelihoods.)
    """

    reads = Reads("first and labelled", "word")

    def add_head(self, init: Init) -> None:
        super().add_head(init)
        self.seq_relationship = NextSentenceHead(self.config.hidden_size, init)

    def logits_of(self, h: Array, packed: PackedBatch, tape: Tape = NO_TAPE) -> PreTrainingOutput:
        relationship_logits = self.seq_relationship(self.bert.pool(h, packed, tape), tape)  # (B, 2)
        return PreTrainingOutput(super().logits_of(h, packed, tape), relationship_logits)

    def logits_backward(self, doutput: tuple[Array, Array], tape: Tape) -> Array:
        """Add up the gradients of both heads, as both read BERT's hidden state."""
        dprediction_logits, drelationship_logits = doutput
        dh = super().logits_backward(dprediction_logits, tape)
        dpooled = self.seq_relationship.backward(drelationship_logits, tape)
        return dh + self.bert.pool_backward(dpooled, tape)

    def loss(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> PreTrainingLosses:
        """Return the mean loss over the masked tokens, the mean over the sequences, and their sum.

        Raises: the errors of PackedBatch and its labels, before any computation.
        """
        packed = self.pack(batch)
        words, pairs = packed.labels, packed.next_sentence_labels
        output = self(packed, tape)
        mlm_loss = self.loss_function(output.prediction_logits, words, tape)
        nsp_loss = self.loss_function(output.seq_relationship_logits, pairs, tape)
        right = [self.loss_function.count_right(*each) for each in zip(output, (words, pairs), strict=True)]
        return PreTrainingLosses(mlm_loss + nsp_loss, (mlm_loss, nsp_loss), tuple(right))

    def loss_backward(self, dloss: float | tuple[float, float], tape: Tape) -> None:
        """Run back from the loss to every parameter. The sum passes `dloss` to both losses.

        dloss: the weight of this loss in the minimized quantity, 1 for the loss itself; or a pair, for mlm_loss and
        nsp_loss.
        """
        dmlm_loss, dnsp_loss = np.broadcast_to(dloss, 2)
        drelationship_logits = self.loss_function.backward(dnsp_loss, tape)
        dprediction_logits = self.loss_function.backward(dmlm_loss, tape)
        self.backward((dprediction_logits, drelationship_logits), tape)

    def target_counts(self, batch: AnyBatch) -> tuple[int, int]:
        """Return the numbers of labels in the means mlm_loss and nsp_loss. Raises: as loss."""
        packed = self.pack(batch)
        return len(packed.labels), len(packed.next_sentence_labels)
