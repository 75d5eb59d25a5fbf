"""The models with a classifier: for a text or a pair of texts, for each token, or for multiple choice."""

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Tape
from npbert.layers import Dropout, Linear, MeanSquaredError, WeightedCrossEntropy
from npbert.models.packed_batch import PackedBatch, Reads
from npbert.models.task_model import HeadModel


class Classifier(HeadModel):
    """logits = Dropout(x) W + b  with  x of TaskModel.features: the shared code of these models."""

    def add_head(self, init: Init) -> None:
        outputs = 1 if self.reads.grouped else self.config.num_labels
        self.dropout = Dropout(self.config.head_dropout)
        self.classifier = self.head = Linear(self.config.hidden_size, outputs, init)

    def features(self, packed: PackedBatch, tape: Tape = NO_TAPE) -> Array:
        return self.dropout(super().features(packed, tape), tape)

    def features_backward(self, dfeatures: Array, tape: Tape) -> None:
        super().features_backward(self.dropout.backward(dfeatures, tape), tape)


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
