"""BertForQuestionAnswering: where in the passage does the answer start, and where does it end?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Init, Tape
from npbert.core.checks import check_labels
from npbert.data.batch import Batch
from npbert.layers import Linear, SoftmaxCrossEntropy, Unpack, count_right
from npbert.models.bert import BertModel
from npbert.models.config import BertConfig
from npbert.models.packed_batch import PackedBatch, check_is_batch
from npbert.models.task_model import TaskLoss, TaskModel


class QuestionAnsweringOutput(NamedTuple):
    """start_logits (B, T) and end_logits (B, T): a score for every token as the first, or last, of the answer."""

    start_logits: Array
    end_logits: Array


class BertForQuestionAnswering(TaskModel):
    """(start, end) = the two columns of h W + b  with  h = BertModel(batch).last_hidden_state, without a pooler.

    batch -> (start_logits (B, T), end_logits (B, T)), 0 for padding   W (D, 2)
    start_positions, end_positions (B,) real tokens of the sequence

    The loss is the mean of two cross-entropies, that of the start and that of the end. In each, the tokens of the
    sequence compete, those of the question too. (Devlin et al. 2018, section 4.2. In Hugging Face's loss the padding
    competes as well, so the two losses are equal only where nothing is padded.)

    rng: where the initial weights are drawn from; None leaves them 0, for a model about to be loaded.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype, add_pooling_layer=False)
        self.qa_outputs = Linear(config.hidden_size, 2, Init(rng, config.initializer_range, dtype))
        self.unpack = Unpack()
        self.loss_function = SoftmaxCrossEntropy()

    def forward(self, batch: Batch, tape: Tape = NO_TAPE) -> QuestionAnsweringOutput:
        packed = PackedBatch(batch, self.config)
        scores = self.qa_outputs.forward(self.bert.encode(packed, tape), tape)  # (N, 2)
        scores = self.unpack.forward(scores, packed.places, packed.shape, tape)  # (B, T, 2)
        return QuestionAnsweringOutput(scores[:, :, 0], scores[:, :, 1])

    def backward(self, doutput: tuple[Array, Array], tape: Tape) -> None:
        """The two gradients are the two columns again; then back through BERT."""
        dscores = self.unpack.backward(np.stack(doutput, axis=-1), tape)
        self.bert.encode_backward(self.qa_outputs.backward(dscores, tape), tape)

    def loss(self, batch: Batch, tape: Tape = NO_TAPE) -> TaskLoss:
        """As TaskModel's. Start and end are two questions, with the tokens of the sequence as possible answers.

        The logits of padding become −∞ in the softmax, so that it has probability 0.
        """
        targets = self.check_targets(batch)
        logits = np.stack(self.forward(batch, tape))  # (2, B, T)
        logits = np.where(batch.attention_mask != 0, logits, -np.inf).reshape(-1, logits.shape[-1])  # (2·B, T)
        loss = self.loss_function.forward(logits, targets, tape)
        return TaskLoss(loss, count_right(logits, targets))

    def loss_backward(self, dloss: float, tape: Tape) -> None:
        """As TaskModel's. Where a logit was replaced by −∞, the probability is 0, and so is the gradient."""
        dlogits = self.loss_function.backward(dloss, tape)
        dstart, dend = dlogits.reshape(2, -1, dlogits.shape[-1])
        self.backward((dstart, dend), tape)

    def check_targets(self, batch: Batch) -> Array:
        """The start of each answer, then the end of each (2·B,)."""
        check_is_batch(batch)
        if batch.start_positions is None or batch.end_positions is None:
            missing = "start_positions" if batch.start_positions is None else "end_positions"
            raise ValueError(f"the loss needs start_positions and end_positions: {missing} is missing")
        is_missing = (batch.start_positions == IGNORED, batch.end_positions == IGNORED)
        if (is_missing[0] != is_missing[1]).any():
            raise ValueError(
                f"start_positions and end_positions disagree about which sequences have no answer ({IGNORED})"
            )
        for name in ("start_positions", "end_positions"):
            positions = getattr(batch, name)
            check_labels(positions, batch.input_ids.shape[1], limit_name="the number of tokens", name=name)
            tokens = np.where(positions == IGNORED, 0, positions)[:, None]
            on_padding = (np.take_along_axis(batch.attention_mask, tokens, axis=1)[:, 0] == 0) & (positions != IGNORED)
            if on_padding.any():
                sequence = int(on_padding.argmax())
                raise ValueError(f"{name}[{sequence}] is {positions[sequence]}, but the token there is padding")
        return np.concatenate([batch.start_positions, batch.end_positions])
