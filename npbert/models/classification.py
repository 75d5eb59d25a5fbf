"""The models with a classifier: a label for a text or a pair of texts, for each token, or one of several choices."""

import numpy as np

from npbert.compute import Array, DTypeLike
from npbert.core import NO_TAPE, Init, Tape
from npbert.layers import Dropout, Linear, MeanSquaredError, SoftmaxCrossEntropy, Unpack
from npbert.models.config import BertConfig
from npbert.models.packed_batch import AnyBatch, Reads, pooled_tokens
from npbert.models.task_model import TaskModel


class BertForSequenceClassification(TaskModel):
    """logits = Dropout(pooled) W + b  with  pooled = BertModel(batch).pooler_output.

    batch -> logits (B, C)   W (D, C)   labels (B,) integers below C

    With C = 1 it is a regression: the labels are numbers, and the loss is the mean squared error. (Devlin et al. 2018,
    section 4.1.)
    """

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        super().__init__(config, rng=rng, dtype=dtype, add_pooling_layer=True)
        is_regression = config.num_labels == 1
        self.reads = Reads(pooled_tokens(config), "number" if is_regression else "class")
        self.dropout = Dropout(config.head_dropout)
        self.classifier = Linear(config.hidden_size, config.num_labels, Init(rng, config.initializer_range, dtype))
        self.loss_function = MeanSquaredError() if is_regression else SoftmaxCrossEntropy()

    def forward(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> Array:
        packed = self.pack(batch)
        pooled = self.bert.pool(self.bert.encode(packed, tape), packed, tape)  # (B, D)
        return self.classifier(self.dropout(pooled, tape), tape)

    def backward(self, dlogits: Array, tape: Tape) -> None:
        """Back through the classifier and the pooler to the [CLS] of each sequence, and on through BERT."""
        dpooled = self.dropout.backward(self.classifier.backward(dlogits, tape), tape)
        self.bert.encode_backward(self.bert.pool_backward(dpooled, tape), tape)


class BertForMultipleChoice(TaskModel):
    """score of a choice = Dropout(pooled) w + b  with  pooled = BertModel(choice).pooler_output.

    batch of (B, C, T) -> logits (B, C), the scores of the C choices   w (D, 1)   labels (B,) integers below C

    Every choice goes through BERT by itself; they meet in the softmax of the loss. (Devlin et al. 2018, section 4.4,
    SWAG; the bias, which softmax does not notice, is Hugging Face's.)
    """

    reads = Reads("first", "choice", grouped=True)

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        super().__init__(config, rng=rng, dtype=dtype, add_pooling_layer=True)
        self.reads = Reads(pooled_tokens(config), "choice", grouped=True)
        self.dropout = Dropout(config.head_dropout)
        self.classifier = Linear(config.hidden_size, 1, Init(rng, config.initializer_range, dtype))
        self.loss_function = SoftmaxCrossEntropy()

    def forward(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> Array:
        packed = self.pack(batch)
        pooled = self.bert.pool(self.bert.encode(packed, tape), packed, tape)  # (B·C, D)
        scores = self.classifier(self.dropout(pooled, tape), tape)  # (B·C, 1)
        return scores.reshape(packed.batch_shape)

    def backward(self, dlogits: Array, tape: Tape) -> None:
        """Back through the classifier and the pooler to the [CLS] of each choice, and on through BERT."""
        dpooled = self.dropout.backward(self.classifier.backward(dlogits.reshape(-1, 1), tape), tape)
        self.bert.encode_backward(self.bert.pool_backward(dpooled, tape), tape)


class BertForTokenClassification(TaskModel):
    """logits = Dropout(h) W + b  with  h = BertModel(batch).last_hidden_state, without a pooler.

    batch -> logits (B, T, C), 0 for padding   W (D, C)   labels (B, T) integers below C, −100 for a token without one

    Of a word that is cut into several tokens, only the first has a label. (Devlin et al. 2018, section 5.3 and appendix
    A.5.)
    """

    reads = Reads(labels="token class")

    def __init__(self, config: BertConfig, *, rng: np.random.Generator | None, dtype: DTypeLike = np.float32) -> None:
        super().__init__(config, rng=rng, dtype=dtype, add_pooling_layer=config.architecture.token_pooler)
        self.dropout = Dropout(config.head_dropout)
        self.classifier = Linear(config.hidden_size, config.num_labels, Init(rng, config.initializer_range, dtype))
        self.unpack = Unpack()
        self.loss_function = SoftmaxCrossEntropy()

    def forward(self, batch: AnyBatch, tape: Tape = NO_TAPE) -> Array:
        packed = self.pack(batch)
        h = self.dropout(self.encode_tokens(packed, tape), tape)  # (N, D)
        logits = self.classifier(h, tape)  # (N, C)
        return self.unpack(logits, packed.places, packed.shape, tape)

    def backward(self, dlogits: Array, tape: Tape) -> None:
        """Back through the classifier, and on through BERT."""
        dh = self.classifier.backward(self.unpack.backward(dlogits, tape), tape)
        self.encode_tokens_backward(self.dropout.backward(dh, tape), tape)
