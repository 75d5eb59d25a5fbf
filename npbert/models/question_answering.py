"""BertForQuestionAnswering: where in the passage does the answer start, and where does it end?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from npbert.data.batch import Batch
from npbert.layers import IGNORED, Array, Cache, Linear, SoftmaxCrossEntropy
from npbert.layers.checks import check_labels
from npbert.models.bert import BertModel, check_batch
from npbert.models.config import BertConfig
from npbert.models.task_model import TaskModel


class QuestionAnsweringOutput(NamedTuple):
    """start_logits (B, T) and end_logits (B, T): a score for every token as the first, or last, of the answer."""

    start_logits: Array
    end_logits: Array


class BertForQuestionAnswering(TaskModel):
    """(start, end) = the two columns of h W + b  with  h = BertModel(batch).last_hidden_state, without a pooler.

    batch -> (start_logits (B, T), end_logits (B, T))   W (D, 2)   start_positions, end_positions (B,) below T

    The loss is the mean of two cross-entropies over the T tokens, that of the start and that of the end. As in Hugging
    Face, all tokens compete there, those of the question and the padding too. (Devlin et al. 2018, section 4.2.)

    rng: in the constructor, where the initial weights are drawn from; None leaves them 0, for a model about to be
    loaded. In forward and loss, where dropout is drawn from; None means evaluation.
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype, add_pooling_layer=False)
        self.qa_outputs = Linear(
            config.hidden_size, 2, rng=rng, initializer_range=config.initializer_range, dtype=dtype
        )
        self.loss_function = SoftmaxCrossEntropy()

    def __call__(self, batch: Batch) -> QuestionAnsweringOutput:
        """As forward, but what a layer keeps for backward is dropped before the next layer runs."""
        scores = self.qa_outputs(self.bert(batch).last_hidden_state)
        return QuestionAnsweringOutput(scores[:, :, 0], scores[:, :, 1])

    def forward(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[QuestionAnsweringOutput, Cache]:
        (hidden, _), bert_cache = self.bert.forward(batch, rng)
        scores, outputs_cache = self.qa_outputs.forward(hidden)  # (B, T, 2)
        return QuestionAnsweringOutput(scores[:, :, 0], scores[:, :, 1]), (bert_cache, outputs_cache)

    def loss(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[Any, Cache]:
        """As TaskModel's; the two rows of logits of a sequence are two questions with T possible answers each."""
        targets = self.check_targets(batch)
        output, forward_cache = self.forward(batch, rng)
        loss, loss_cache = self.loss_function.forward(np.stack(output, axis=1), targets)  # (B, 2, T), (B, 2)
        return loss, (forward_cache, loss_cache)

    def backward_logits(self, dlogits: Array, cache: Cache) -> None:
        """dlogits (B, 2, T)"""
        bert_cache, outputs_cache = cache
        dhidden = self.qa_outputs.backward(dlogits.swapaxes(1, 2), outputs_cache)
        self.bert.backward((dhidden, None), bert_cache)

    def check_targets(self, batch: Batch) -> Array:
        """The start and the end of each answer (B, 2)."""
        check_batch(batch, self.config)
        if batch.start_positions is None or batch.end_positions is None:
            missing = "start_positions" if batch.start_positions is None else "end_positions"
            raise ValueError(f"the loss needs start_positions and end_positions: {missing} is missing")
        targets = np.stack([batch.start_positions, batch.end_positions], axis=1)
        if ((targets == IGNORED).sum(axis=1) == 1).any():
            raise ValueError(
                f"start_positions and end_positions disagree about which sequences have no answer ({IGNORED})"
            )
        for name in ("start_positions", "end_positions"):
            check_labels(getattr(batch, name), batch.input_ids.shape[1], limit_name="the number of tokens", name=name)
        return targets
