"""SoftmaxCrossEntropy: the mean surprise at the right answers."""

import numpy as np

from npbert.compute import Array, rowwise
from npbert.core import IGNORED, NO_TAPE, Tape, check_labels
from npbert.layers.loss import Loss


class SoftmaxCrossEntropy(Loss):
    """loss = mean over the targets of −log p[label]  with  p = softmax(logits).

    logits (N, C)   labels (N,) integers, IGNORED (−100) where there is no target   loss: a number, in nats

    Random guessing has loss ln C. Softmax and logarithm are one layer, as log p = logit − log Σ e^logits needs no
    division, and no logarithm of a number that may be 0.
    Chapter 4 of docs/ derives it; in exercise 5 you do.

    Raises: ValueError if labels do not fit logits or have no target; TypeError for labels that are not integers;
    IndexError for a label outside 0 to C − 1 that is not IGNORED.
    """

    def forward(self, logits: Array, labels: Array, tape: Tape = NO_TAPE) -> float:
        return -self.log_p(logits, labels, tape).mean()

    def log_p(self, logits: Array, labels: Array, tape: Tape = NO_TAPE) -> Array:
        """Return log p[label] (n,) of each of the n targets."""
        if labels.shape != logits.shape[:-1] or logits.ndim != 2:
            raise ValueError(f"logits are {logits.shape} and labels {labels.shape}, wanted (N, C) and (N,)")
        check_labels(labels, logits.shape[1], limit_name="the number of classes")
        is_target = labels != IGNORED
        targets = labels[is_target]
        scores = logits if is_target.all() else logits[is_target]
        largest, total = rowwise(_exponentials, scores)
        tape.keep(self, is_target=is_target, targets=targets, scores=scores, largest=largest, total=total)
        return scores[np.arange(len(targets)), targets] - largest[:, 0] - np.log(total[:, 0])

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dlogits = share · (p − onehot(label))  with  share = dloss / n,  and 0 in rows that are ignored.

        The loss is a mean over n targets, so the gradient of each has the factor dloss / n. The loss of one target with
        logits s is log Σₖ e^(sₖ) − s[label]. By the chain rule, the derivative of its first term is ∂ log Σₖ e^(sₖ) /
        ∂sⱼ = e^(sⱼ) / Σₖ e^(sₖ) = pⱼ. The second term subtracts 1 if j is the label: p − onehot. So a step against the
        gradient raises the label's logit in proportion to 1 − p, and lowers every other logit in proportion to its p.
        """
        is_target, targets, scores, largest, total = tape.take(self)
        share = float(dloss) / len(targets)
        dscores = rowwise(lambda s, m, total: np.exp(s - m) * (share / total), scores, largest, total)
        dscores[np.arange(len(targets)), targets] -= share
        if is_target.all():
            return dscores
        dlogits = np.zeros((len(is_target), dscores.shape[1]), dscores.dtype)
        dlogits[is_target] = dscores
        return dlogits

    def count_right(self, logits: Array, labels: Array) -> int:
        """Return the number of targets whose label is the most probable class.   logits (N, C)   labels (N,)"""
        return int((logits.argmax(axis=-1) == labels).sum())


def _exponentials(scores: Array) -> tuple[Array, Array]:
    """Return the largest score of each row, and Σ e^(score − largest): the loss stays the same, and exp cannot
    overflow."""
    largest = scores.max(axis=-1, keepdims=True)
    return largest, np.exp(scores - largest).sum(axis=-1, keepdims=True)
