"""TaskModel: what every model with one output and one loss shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.data.batch import Batch
from npbert.layers import IGNORED, Array, Cache, Layer, SoftmaxCrossEntropy
from npbert.models.pretrained import PreTrainedModel


class TaskModel(PreTrainedModel):
    """loss = mean over the targets of loss_function(logits, target)  with  logits = model(batch).

    A subclass defines `forward(batch, rng) -> (logits, cache)` and beside it `backward_logits(dlogits, cache)`, says
    with `check_targets(batch)` what the targets are, and has a `loss_function`.
    """

    loss_function: Layer

    def loss(self, batch: Batch, rng: np.random.Generator | None = None) -> tuple[Any, Cache]:
        """The mean loss over the targets in the batch, a scalar, and what backward needs.

        rng: where dropout is drawn from; None means evaluation.

        Raises, before anything is computed: ValueError when the targets are missing, of a wrong shape or all −100;
        TypeError for a wrong kind of number; IndexError for a target out of range; and what BertModel raises.
        """
        targets = self.check_targets(batch)
        logits, forward_cache = self.forward(batch, rng)
        loss, loss_cache = self.loss_function.forward(logits, targets)
        return loss, (forward_cache, loss_cache)

    def backward(self, cache: Cache, dloss: float = 1.0) -> None:
        """From the loss back to every parameter.

        cache: that of `loss`, of which forward's own is a part. dloss: the derivative of what is minimised with respect
        to this loss, 1 when it is the loss itself.
        """
        forward_cache, loss_cache = cache
        self.backward_logits(self.loss_function.backward(dloss, loss_cache), forward_cache)

    def target_counts(self, batch: Batch) -> tuple[int]:
        """Over how many targets the loss is a mean. Raises: as loss."""
        targets = self.check_targets(batch)
        return (int((targets != IGNORED).sum()) if targets.dtype.kind in "iu" else targets.size,)

    def count_right(self, cache: Cache) -> tuple[int] | None:
        """How many targets were the most probable class, from the cache of `loss`; None for a regression."""
        function = self.loss_function
        return (function.count_right(cache[1]),) if isinstance(function, SoftmaxCrossEntropy) else None

    def check_targets(self, batch: Batch) -> Array:
        """The targets of the loss, or the error that `loss` promises."""
        raise NotImplementedError

    def backward_logits(self, dlogits: Any, cache: Cache) -> None:
        """From the gradient of the logits back to every parameter."""
        raise NotImplementedError


def labels_of(batch: Batch, shape: tuple[int, ...]) -> Array:
    """The labels of the batch. Raises: ValueError when there are none, or not in this shape."""
    if batch.labels is None:
        raise ValueError("the loss needs labels, and the batch has none")
    if batch.labels.shape != shape:
        raise ValueError(f"labels has shape {batch.labels.shape}, wanted {shape}")
    return batch.labels
