"""SoftmaxCrossEntropy: how surprised the model is by the right answers, on average."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.layers.checks import IGNORED, check_labels
from npbert.layers.parameter import Array, Cache, Layer, rows


class SoftmaxCrossEntropy(Layer):
    """loss = mean over the N targets of −log p[label]  with  p = softmax(logits).

    logits (..., C)   labels (...) integers, IGNORED (−100) where there is no target   loss: a scalar, in nats

    A model that knows nothing has loss ln C. softmax and logarithm are one layer, as log p = logit − log Σ e^logits
    needs neither a division nor the logarithm of a number that may be 0.

    Raises: ValueError when labels do not fit logits or hold no target at all; TypeError for labels that are not
    integers; IndexError for a label outside 0 to C − 1 that is not IGNORED.
    """

    def forward(self, logits: Array, labels: Array) -> tuple[Any, Cache]:
        if labels.shape != logits.shape[:-1]:
            raise ValueError(f"labels have shape {labels.shape}, but logits {logits.shape} want {logits.shape[:-1]}")
        check_labels(labels, logits.shape[-1], limit_name="the number of classes")
        target_rows = np.flatnonzero(labels != IGNORED)  # (N,)
        targets = labels.reshape(-1)[target_rows]
        scores = rows(logits)[target_rows]  # (N, C)
        scores = scores - scores.max(axis=-1, keepdims=True)  # the loss does not change, and exp cannot overflow
        exponentials = np.exp(scores)
        totals = exponentials.sum(axis=-1, keepdims=True)
        log_p = scores[np.arange(len(targets)), targets] - np.log(totals[:, 0])
        return -log_p.mean(), (logits.shape, target_rows, targets, exponentials / totals)

    def backward(self, dloss: Array | float, cache: Cache) -> Array:
        """dlogits = dloss · (p − onehot(label)) / N at the targets, 0 at ignored rows.

        A step against it pulls the label's logit up by what its probability lacks to 1, and pushes every other down by
        its own probability; together that is 0. N counts targets only, as the mean did.
        """
        shape, target_rows, targets, p = cache
        dscores = p * (dloss / len(targets))
        dscores[np.arange(len(targets)), targets] -= dloss / len(targets)
        dlogits = np.zeros(shape, p.dtype)
        rows(dlogits)[target_rows] = dscores
        return dlogits

    @staticmethod
    def count_right(cache: Cache) -> int:
        """For how many of the N targets the label is the most probable class."""
        _, _, targets, p = cache
        return int((p.argmax(axis=-1) == targets).sum())
