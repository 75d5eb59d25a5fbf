"""TaskModel: a BERT with a head and a loss; and the models with one head: a classifier of texts, choices or tokens, or
the ends of an answer."""

from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array, DTypeLike
from npbert.core import IGNORED, NO_TAPE, Init, Layer, Tape
from npbert.layers import (
    Dropout,
    Gather,
    Identity,
    Linear,
    Loss,
    MeanSquaredError,
    SoftmaxCrossEntropy,
    WeightedCrossEntropy,
)
from npbert.models.bert import BertModel
from npbert.models.config import BertConfig
from npbert.models.packed_batch import AnyBatch, PackedBatch, Reads
from npbert.models.pretrained import PreTrainedModel


class TaskLoss(NamedTuple):
    """loss: the minimized number. means, counts_right: of each kind of target, the mean loss and the number of right
    predictions; counts_right is empty in a regression."""

    loss: float
    means: tuple[float, ...]
    counts_right: tuple[int, ...]


class TaskModel(PreTrainedModel):
    """loss = mean over the labels of loss_function(logits, label)  with  logits = model(batch).

    Base class of a BERT with a head and a loss. A subclass builds its head in `__init__`, with a `loss_function` such
    as SoftmaxCrossEntropy(). It declares in `reads` the parts of a batch that it reads, and defines forward and
    backward.

    `forward(batch, tape) -> logits` begins with `packed = self.pack(batch)` and `h = self.bert.encode(packed, tape)`, a
    row for each token that is read (and `self.bert.pool(h, packed, tape)`, a vector for each sequence).
    `backward(dlogits, tape)` ends with `self.bert.encode_backward(dh, tape)`, which adds the gradients of BERT.
    docs/own_head.md has an example of thirty lines; the library's own heads are of the class `HeadModel`.

    add_pooling_layer: True for a head that reads the pooled vector.
    """

    loss_function: Loss
    needs_whole_batch = False
    """True for a loss that compares the sequences of a batch with each other, so that it is not a mean over parts."""

    def __init__(
        self,
        config: BertConfig,
        *,
        rng: np.random.Generator | None,
        dtype: DTypeLike = np.float32,
        add_pooling_layer: bool = False,
    ) -> None:
        self.config = config
        self.bert = BertModel(config, rng=rng, dtype=dtype, add_pooling_layer=add_pooling_layer)

    def loss(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> TaskLoss:
        """Return the mean loss over the labels in the batch, and the number of right predictions.

        Raises: the errors of PackedBatch and its `labels`, before any computation.
        """
        packed = self.pack(batch)
        targets, weight = packed.labels, packed.batch.sample_weight
        if weight is not None and not isinstance(self.loss_function, WeightedCrossEntropy):
            raise ValueError(f"sample_weight is given, and {type(self).__name__} has no weighted loss: leave it out")
        logits = self(packed, tape)
        rows = self.rows(logits, packed)
        if packed.reads.labels_are_numbers:
            targets = targets.astype(rows.dtype)
        weights = () if weight is None else (weight.astype(rows.dtype),)
        loss = self.loss_function(rows, targets, *weights, tape)
        tape.keep(self, shape=np.shape(logits))
        right = self.loss_function.count_right(rows, targets)
        return TaskLoss(loss, (loss,), () if right is None else (right,))

    def loss_backward(self, dloss: float, tape: Tape) -> None:
        """Run back from the loss to every parameter.

        dloss: the weight of this loss in the minimized quantity, 1 for the loss itself.
        """
        shape = tape.take(self)
        dlogits = self.loss_function.backward(dloss, tape)
        self.backward(dlogits.reshape(shape), tape)

    def rows(self, logits: Any, packed: PackedBatch) -> Array:
        """Return the input of the loss function: the logits (N, C), a row for each target."""
        return logits.reshape(-1, logits.shape[-1])

    def target_counts(self, batch: AnyBatch) -> tuple[int, ...]:
        """Return the number of labels in the mean of the loss. Raises: as loss."""
        packed = self.pack(batch)
        return (packed.labels.size if packed.reads.labels_are_numbers else int((packed.labels != IGNORED).sum()),)


class HeadModel(TaskModel):
    """logits = head(Dropout(x)): the base class of the library's models with a head.

    x (B, D), the pooled vector of each sequence, or (N, D), the hidden state of each token (ModernBERT: pooled)
    logits (B, …), for groups (B, C), for labelled tokens (n, …), or for all tokens (B, T, …), 0 for padding

    `add_head` builds the head, as the attribute `head_name`: by default a classifier, Dropout(x) W + b. The model has a
    pooler if the head reads its output.
    """

    head_name = "classifier"
    dropout: Layer = Identity()  # another head may have none

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        tokens = self.reads.tokens
        has_pooler = "first" in tokens or (tokens == "all" and config.architecture.token_pooler)
        super().__init__(config, rng=rng, dtype=dtype, add_pooling_layer=has_pooler)
        self.gather, self.loss_function = Gather(), SoftmaxCrossEntropy()
        self.add_head(Init(rng, config.initializer_range, dtype))

    def add_head(self, init: Init) -> None:
        """Build the head, and the loss function, if it is another one."""
        outputs = 1 if self.reads.grouped else self.config.num_labels
        self.dropout = Dropout(self.config.head_dropout)
        self.classifier = Linear(self.config.hidden_size, outputs, init)

    def forward(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> Any:
        packed = self.pack(batch)
        return self.logits_of(self.bert.encode(packed, tape), packed, tape)

    def backward(self, dlogits: Any, tape: Tape) -> None:
        """Run back through the head, and through BERT."""
        self.bert.encode_backward(self.logits_backward(dlogits, tape), tape)

    def logits_of(self, h: Array, packed: PackedBatch, tape: Tape = NO_TAPE) -> Any:
        """Return the logits from the last hidden state: from the rows that the head reads."""
        x, tokens, places = h, self.reads.tokens, packed.places
        if tokens == "first":
            x = self.bert.pool(h, packed, tape)
        elif "labelled" in tokens:
            x, places = self.gather(h, packed.labelled, tape), packed.labelled_places
        elif self.bert.pooler:
            x = self.bert.pooler(h, tape)
        logits = getattr(self, self.head_name)(self.dropout(x, tape), tape)
        if tokens == "first":
            return logits.reshape(packed.batch_shape[0], -1)  # of choices (B·C, 1) -> (B, C)
        if "labelled" in tokens and packed.has_labels:
            return logits
        return self.bert.unpack(logits, places, packed.shape, tape)

    def logits_backward(self, dlogits: Any, tape: Tape) -> Array:
        """Run the backward of `logits_of`: through the head and its dropout to the rows that it read."""
        if dlogits.ndim == 3:
            dlogits = self.bert.unpack.backward(dlogits, tape)
        elif self.reads.grouped:
            dlogits = dlogits.reshape(-1, 1)
        dx = self.dropout.backward(getattr(self, self.head_name).backward(dlogits, tape), tape)
        if self.reads.tokens == "first":
            return self.bert.pool_backward(dx, tape)
        if "labelled" in self.reads.tokens:
            return self.gather.backward(dx, tape)
        return self.bert.pooler.backward(dx, tape) if self.bert.pooler else dx


class BertForSequenceClassification(HeadModel):
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


class BertForMultipleChoice(HeadModel):
    """score of a choice = Dropout(pooled) w + b  with  pooled = BertModel(choice).pooler_output.

    batch of (B, C, T) -> logits (B, C), the scores of the C choices   w (D, 1)   labels (B,) integers below C

    Every choice goes through BERT separately; the softmax of the loss compares them. (Devlin et al. 2018, section 4.4,
    SWAG; the bias is Hugging Face's, and softmax ignores it.)
    """

    reads = Reads("first", "choice", grouped=True)


class BertForTokenClassification(HeadModel):
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
