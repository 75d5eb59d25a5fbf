"""TaskModel: what every model with one output and one loss shares."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Layer, Tape
from npbert.data.batch import Batch
from npbert.layers import SoftmaxCrossEntropy, count_right
from npbert.models.pretrained import PreTrainedModel


class TaskLoss(NamedTuple):
    """loss: the mean over the targets. right: for how many of them the label was the most probable; None in a
    regression, where nothing is right or wrong."""

    loss: Any
    right: int | None

    @property
    def means(self) -> tuple[Any, ...]:
        """The loss, alone: pre-training has two."""
        return (self.loss,)

    @property
    def counts_right(self) -> tuple[int, ...] | None:
        """How many were right, for each of `means`."""
        return None if self.right is None else (self.right,)


class TaskModel(PreTrainedModel):
    """loss = mean over the targets of loss_function(logits, target)  with  logits = model(batch).

    A subclass defines `forward(batch, tape) -> logits` and beside it `backward(dlogits, tape)`, says with
    `check_targets(batch)` what the targets are, and has a `loss_function`: SoftmaxCrossEntropy(), say.
    """

    loss_function: Layer

    def loss(self, batch: Batch, tape: Tape = NO_TAPE) -> TaskLoss:
        """The mean loss over the targets in the batch, and how many were right.

        Raises, before anything is computed: ValueError when the targets are missing, of a wrong shape, on padding or
        all −100; TypeError for a wrong kind of number; IndexError for a target out of range; what PackedBatch raises.
        """
        targets = self.check_targets(batch)
        logits = self.forward(batch, tape)
        rows = logits.reshape(-1, logits.shape[-1])
        loss = self.loss_function.forward(rows, targets, tape)
        tape.keep(self, logits.shape)
        is_classification = isinstance(self.loss_function, SoftmaxCrossEntropy)
        return TaskLoss(loss, count_right(rows, targets) if is_classification else None)

    def loss_backward(self, dloss: float, tape: Tape) -> None:
        """From the loss back to every parameter.

        dloss: the derivative of what is minimised with respect to this loss, 1 when it is the loss itself.
        """
        shape = tape.take(self)
        dlogits = self.loss_function.backward(dloss, tape)
        if isinstance(dlogits, tuple):
            dlogits, _ = dlogits  # the squared error has a gradient for its target, too
        self.backward(dlogits.reshape(shape), tape)

    def target_counts(self, batch: Batch) -> tuple[int]:
        """Over how many targets the loss is a mean. Raises: as loss."""
        targets = self.check_targets(batch)
        return (int((targets != IGNORED).sum()) if targets.dtype.kind in "iu" else targets.size,)

    def check_targets(self, batch: Batch) -> Array:
        """The targets of the loss, one for each row of the logits, or the error that `loss` promises."""
        raise NotImplementedError(f"{type(self).__name__} needs check_targets(batch): what the loss compares with")


def labels_of(batch: Batch, shape: tuple[int, ...]) -> Array:
    """The labels of the batch.

    Raises: ValueError when there are none, not in this shape, or, where each token has one, on padding.
    """
    if batch.labels is None:
        raise ValueError("the loss needs labels, and the batch has none")
    if batch.labels.shape != shape:
        raise ValueError(f"labels has shape {batch.labels.shape}, wanted {shape}")
    if shape == batch.attention_mask.shape:
        on_padding = (batch.labels != IGNORED) & (batch.attention_mask == 0)
        if on_padding.any():
            place = tuple(np.argwhere(on_padding)[0].tolist())
            raise ValueError(
                f"labels[{place[0]}, {place[1]}] is {batch.labels[place]}, but the token is padding: wanted {IGNORED}"
            )
    return batch.labels
