"""TaskModel: a BERT with a head and a loss."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from npbert.compute import Array, DTypeLike
from npbert.core import IGNORED, NO_TAPE, Tape
from npbert.layers import Loss, WeightedCrossEntropy
from npbert.models.bert import BertModel
from npbert.models.config import BertConfig
from npbert.models.packed_batch import AnyBatch, PackedBatch
from npbert.models.pretrained import PreTrainedModel


class TaskLoss(NamedTuple):
    """loss: the minimized number. means, counts_right: of each kind of target, the mean loss and the number of right
    predictions; counts_right is None in a regression."""

    loss: float
    means: tuple[float, ...]
    counts_right: tuple[int, ...] | None


class TaskModel(PreTrainedModel):
    """loss = mean over the labels of loss_function(logits, label)  with  logits = model(batch).

    Base class of a BERT with a head and a loss. A subclass builds its head in `__init__`, with a `loss_function` such
    as SoftmaxCrossEntropy(). It declares in `reads` the parts of a batch that it reads, and defines forward and
    backward.

    `forward(batch, tape) -> logits` begins with `packed = self.pack(batch)` and `h = self.bert.encode(packed, tape)`, a
    row for each token that is read (and `self.bert.pool(h, packed, tape)`, a vector for each sequence).
    `backward(dlogits, tape)` ends with `self.bert.encode_backward(dh, tape)`, which adds the gradients of BERT.
    docs/own_head.md has an example of thirty lines; the library's own heads are `HeadModel`s (`heads.py`).

    add_pooling_layer: True for a head that reads the pooled vector.
    """

    loss_function: Loss
    needs_whole_batch: ClassVar[bool] = False
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
        return TaskLoss(loss, (loss,), None if right is None else (right,))

    def loss_backward(self, dloss: float, tape: Tape) -> None:
        """Run back from the loss to every parameter.

        dloss: the weight of this loss in the minimized quantity, 1 for the loss itself.
        """
        shape = tape.take(self)
        dlogits = self.loss_function.backward(dloss, tape)
        self.backward(dlogits.reshape(shape), tape)

    def rows(self, logits: Any, packed: PackedBatch) -> Array:
        """Return the input of the loss function: the logits (N, C), a row for each target."""
        rows: Array = logits.reshape(-1, logits.shape[-1])
        return rows

    def target_counts(self, batch: AnyBatch) -> tuple[int, ...]:
        """Return the number of labels in the mean of the loss. Raises: as loss."""
        packed = self.pack(batch)
        return (packed.labels.size if packed.reads.labels_are_numbers else int((packed.labels != IGNORED).sum()),)
