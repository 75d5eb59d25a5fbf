"""SoftmaxCrossEntropy: the surprise of the model at the right answers, on average."""

import numpy as np

from npbert.compute import Array, rowwise
from npbert.core.checks import IGNORED, check_labels
from npbert.core.tape import NO_TAPE, Tape
from npbert.layers.loss import Loss


class SoftmaxCrossEntropy(Loss):
    """loss = mean over the targets of −log p[label]  with  p = softmax(logits).

    logits (N, C)   labels (N,) integers, IGNORED (−100) where there is no target   loss: a number, in nats

    A model that knows nothing has loss ln C. softmax and logarithm are one layer, as log p = logit − log Σ e^logits
    needs neither a division nor the logarithm of a number that may be 0.
    Chapter 4 of docs/ derives it; in exercise 5 you do.

    weight (C,): how much a target of a class counts, where some are rare: loss = mean of −weight[label] log p[label].
    It is divided by the number of targets, not by their weights.

    Raises: ValueError when labels do not fit logits or hold no target at all, or weight is not (C,); TypeError for
    labels that are not integers; IndexError for a label outside 0 to C − 1 that is not IGNORED.
    """

    def __init__(self, weight: Array | None = None) -> None:
        self.weight = weight

    def forward(self, logits: Array, labels: Array, tape: Tape = NO_TAPE) -> float:
        if labels.shape != logits.shape[:-1] or logits.ndim != 2:
            raise ValueError(f"logits are {logits.shape} and labels {labels.shape}, wanted (N, C) and (N,)")
        if self.weight is not None and self.weight.shape != logits.shape[1:]:
            raise ValueError(f"weight has shape {self.weight.shape}, wanted one for each of {logits.shape[1]} classes")
        check_labels(labels, logits.shape[1], limit_name="the number of classes")
        is_target = labels != IGNORED
        targets = labels[is_target]
        scores = logits if is_target.all() else logits[is_target]
        largest, total = rowwise(_exponentials, scores)
        tape.keep(self, is_target=is_target, targets=targets, scores=scores, largest=largest, total=total)
        log_p = scores[np.arange(len(targets)), targets] - largest[:, 0] - np.log(total[:, 0])
        if self.weight is not None:
            log_p = self.weight[targets] * log_p
        return -log_p.mean()

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dlogits = share · (p − onehot(label))  with  share = dloss / n,  and 0 in rows that are ignored.

        The loss is a mean over n targets, so each of them has the share dloss / n in its gradient. The loss of one with
        logits s is log Σₖ e^(sₖ) − s[label]. By the chain rule, the derivative of its first term is
        ∂ log Σₖ e^(sₖ) / ∂sⱼ = e^(sⱼ) / Σₖ e^(sₖ) = pⱼ. The second takes 1 away where j is the label: p − onehot. So a
        step against the gradient raises the label's logit by what its probability lacks to 1, and lowers every other by
        its own probability. A target that counts weight[label] times has that many times the gradient.
        """
        is_target, targets, scores, largest, total = tape.take(self)
        share = float(dloss) / len(targets)
        dscores: Array = rowwise(lambda s, m, total: np.exp(s - m) * (share / total), scores, largest, total)
        dscores[np.arange(len(targets)), targets] -= share
        if self.weight is not None:
            dscores *= self.weight[targets][:, None]
        if is_target.all():
            return dscores
        dlogits = np.zeros((len(is_target), dscores.shape[1]), dscores.dtype)
        dlogits[is_target] = dscores
        return dlogits

    def count_right(self, logits: Array, labels: Array) -> int:
        """The number of targets whose label is the most probable class.   logits (N, C)   labels (N,)"""
        return int((logits.argmax(axis=-1) == labels).sum())


def _exponentials(scores: Array) -> tuple[Array, Array]:
    """The largest score of each row, and Σ e^(score − largest): the loss does not change, and exp cannot overflow."""
    largest = scores.max(axis=-1, keepdims=True)
    return largest, np.exp(scores - largest).sum(axis=-1, keepdims=True)
