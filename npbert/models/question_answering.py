"""BertForQuestionAnswering: predicts the start and the end of the answer in a passage."""

from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Tape
from npbert.layers import Linear
from npbert.models.packed_batch import AnyBatch, PackedBatch, Reads
from npbert.models.task_model import HeadModel


class QuestionAnsweringOutput(NamedTuple):
    """start_logits (B, T) and end_logits (B, T): a score for every token as the first or last of the answer."""

    start_logits: Array
    end_logits: Array


class BertForQuestionAnswering(HeadModel):
    """(start, end) = the two columns of h W + b  with  h = BertModel(batch).last_hidden_state, without a pooler.

    batch -> (start_logits (B, T), end_logits (B, T)), 0 for padding   W (D, 2)
    start_positions, end_positions (B,) real tokens of the sequence

    The loss is the mean of two cross-entropies, for the start and the end, over all tokens of the sequence, including
    the question's. (Devlin et al. 2018, section 4.2. Hugging Face's loss includes the padding, so the two are equal
    only without padding.)
    """

    reads = Reads(labels="answer")

    def add_head(self, init: Init) -> None:
        self.qa_outputs = self.head = Linear(self.config.hidden_size, 2, init)

    def forward(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> QuestionAnsweringOutput:
        scores = super().forward(batch, tape)  # (B, T, 2)
        return QuestionAnsweringOutput(scores[:, :, 0], scores[:, :, 1])

    def backward(self, doutput: tuple[Array, Array], tape: Tape) -> None:
        """Put the two gradients into the two columns, and run back through the head."""
        super().backward(np.stack(doutput, axis=-1), tape)

    def rows(self, logits: QuestionAnsweringOutput, packed: PackedBatch) -> Array:
        """Return the logits (2·B, T) of all starts, then of all ends: each is a classification of the tokens of a
        sequence.

        The logits of padding become −∞ in the softmax: their probability is 0, and so is their gradient.
        """
        both = np.where(packed.is_real, np.stack(logits), -np.inf)  # (2, B, T)
        return both.reshape(-1, both.shape[-1])
