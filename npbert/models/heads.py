"""The models with one head: a classifier of texts, choices or tokens, or the ends of an answer."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from npbert.compute import Array, DTypeLike
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers import (
    Dropout,
    Identity,
    Linear,
    MeanSquaredError,
    SoftmaxCrossEntropy,
    WeightedCrossEntropy,
)
from npbert.models.config import BertConfig
from npbert.models.packed_batch import AnyBatch, PackedBatch, Reads
from npbert.models.task_model import TaskModel


class HeadModel(TaskModel):
    """logits = head(Dropout(x)): the base class of the library's models with a head.

    x (B, D), the pooled vector of each sequence, or (N, D), the hidden state of each token (ModernBERT: pooled)
    logits (B, …), for groups (B, C), or for tokens (B, T, …), 0 for padding

    `add_head` builds the head, as the attribute `head_name`. The model has a pooler if the head reads its output.
    """

    head_name: ClassVar[str]
    dropout: Layer = Identity()  # a Classifier has one

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        tokens = self.reads.tokens
        has_pooler = "first" in tokens or (tokens == "all" and config.architecture.token_pooler)
        super().__init__(config, rng=rng, dtype=dtype, add_pooling_layer=has_pooler)
        self.loss_function = SoftmaxCrossEntropy()
        self.add_head(Init(rng, config.initializer_range, dtype))

    def add_head(self, init: Init) -> None:
        """Build the head, and the loss function, if it is another one."""
        raise NotImplementedError

    def forward(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> Any:
        packed = self.pack(batch)
        x = self.bert.encode(packed, tape)
        if self.reads.tokens == "first":
            x = self.bert.pool(x, packed, tape)
        elif self.bert.pooler:
            x = self.bert.pooler(x, tape)
        logits = getattr(self, self.head_name)(self.dropout(x, tape), tape)
        if self.reads.tokens == "first":
            return logits.reshape(packed.batch_shape[0], -1)  # of choices (B·C, 1) -> (B, C)
        return self.bert.unpack(logits, packed.places, packed.shape, tape)

    def backward(self, dlogits: Any, tape: Tape) -> None:
        """Run back through the head and its dropout to x, and through BERT."""
        if self.reads.tokens != "first":
            dlogits = self.bert.unpack.backward(dlogits, tape)
        elif self.reads.grouped:
            dlogits = dlogits.reshape(-1, 1)
        dx = self.dropout.backward(getattr(self, self.head_name).backward(dlogits, tape), tape)
        if self.reads.tokens == "first":
            dx = self.bert.pool_backward(dx, tape)
        elif self.bert.pooler:
            dx = self.bert.pooler.backward(dx, tape)
        self.bert.encode_backward(dx, tape)


class Classifier(HeadModel):
    """logits = Dropout(x) W + b: the shared code of these models."""

    head_name = "classifier"

    def add_head(self, init: Init) -> None:
        outputs = 1 if self.reads.grouped else self.config.num_labels
        self.dropout = Dropout(self.config.head_dropout)
        self.classifier = Linear(self.config.hidden_size, outputs, init)


class BertForSequenceClassification(Classifier):
    """logits = Dropout(pooled) W + b  with  pooled = BertModel(batch).pooler_output.

    batch -> logits (B, C)   W (D, C)   labels (B,) integers below C

    With C = 1 it is a regression: the labels are numbers, and the loss is the mean squared error. (Devlin et al. 2018,
    section 4.1.)
    """

    reads = Reads("first", "class")

    def add_head(self, init: Init) -> None:
        super().add_head(init)
        self.loss_function = WeightedCrossEntropy()
        if self.config.num_labels == 1:
            self.reads, self.loss_function = Reads("first", "number"), MeanSquaredError()


class BertForMultipleChoice(Classifier):
    """score of a choice = Dropout(pooled) w + b  with  pooled = BertModel(choice).pooler_output.

    batch of (B, C, T) -> logits (B, C), the scores of the C choices   w (D, 1)   labels (B,) integers below C

    Every choice goes through BERT separately; the softmax of the loss compares them. (Devlin et al. 2018, section 4.4,
    SWAG; the bias is Hugging Face's, and softmax ignores it.)
    """

    reads = Reads("first", "choice", grouped=True)


class BertForTokenClassification(Classifier):
    """logits = Dropout(h) W + b  with  h = BertModel(batch).last_hidden_state, without a pooler.

    batch -> logits (B, T, C), 0 for padding   W (D, C)   labels (B, T) integers below C, −100 for a token without one

    For a word of several tokens, only the first has a label. (Devlin et al. 2018, section 5.3 and appendix A.5.)
    """

    reads = Reads(labels="token class")


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

    reads, head_name = Reads(labels="answer"), "qa_outputs"

    def add_head(self, init: Init) -> None:
        self.qa_outputs = Linear(self.config.hidden_size, 2, init)

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
