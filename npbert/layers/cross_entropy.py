"""SoftmaxCrossEntropy: how surprised the model is by the right answers, on average."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npbert.layers.blockwise import blockwise
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
        all_rows = rows(logits)
        scores = all_rows if len(target_rows) == len(all_rows) else all_rows[target_rows]  # (N, C)
        largest, total = blockwise(_exponentials, scores)  # (N, 1) both
        log_p = scores[np.arange(len(targets)), targets] - largest[:, 0] - np.log(total[:, 0])
        return -log_p.mean(), (logits.shape, target_rows, targets, scores, largest, total)

    def backward(self, dloss: Array | float, cache: Cache) -> Array:
        """dlogits = dloss · (p − onehot(label)) / N at the targets, 0 at ignored rows.

        A step against it pulls the label's logit up by what its probability lacks to 1, and pushes every other down by
        its own probability; together that is 0. N counts targets only, as the mean did.
        """
        shape, target_rows, targets, scores, largest, total = cache
        share = dloss / len(targets)

        def dscores_of(scores: Array, largest: Array, total: Array) -> Array:
            return np.exp(scores - largest) * (share / total)

        dscores: Array = blockwise(dscores_of, scores, largest, total)
        dscores[np.arange(len(targets)), targets] -= share
        if len(dscores) == math.prod(shape[:-1]):
            return dscores.reshape(shape)
        dlogits = np.zeros(shape, dscores.dtype)
        rows(dlogits)[target_rows] = dscores
        return dlogits

    @staticmethod
    def count_right(cache: Cache) -> int:
        """For how many of the N targets the label is the most probable class."""
        _, _, targets, scores, _, _ = cache
        return int((scores.argmax(axis=-1) == targets).sum())


def _exponentials(scores: Array) -> tuple[Array, Array]:
    """The largest score of each row, and Σ e^(score − largest): the loss does not change, and exp cannot overflow."""
    largest = scores.max(axis=-1, keepdims=True)
    return largest, np.exp(scores - largest).sum(axis=-1, keepdims=True)
