"""SoftmaxCrossEntropy: the mean surprise at the right answers."""

import numpy as np

from npbert.compute import Array, rowwise
from npbert.core.checks import IGNORED, check_labels
from npbert.core.tape import NO_TAPE, Tape
from npbert.layers.loss import Loss


class SoftmaxCrossEntropy(Loss):
    """loss = mean over the targets of −log p[label]  with  p = softmax(logits).

    logits (N, C)   labels (N,) integers, IGNORED (−100) where there is no target   loss: a number, in nats

    Random guessing has loss ln C. Softmax and logarithm are one layer, as log p = logit − log Σ e^logits needs no
    division, and no logarithm of a number that may be 0.
    Chapter 4 of docs/ derives it; in exercise 5 you do.

    weights (N,): the weight of each row, if they differ: loss = mean over the targets of −weight · log p, divided by
    the number of targets, not by the sum of their weights. With weights[labels], each class has a weight (C,).

    Raises: ValueError if labels or weights do not fit logits, or labels have no target; TypeError for labels that are
    not integers; IndexError for a label outside 0 to C − 1 that is not IGNORED.
    """

    constant_inputs = ("weights",)

    def forward(self, logits: Array, labels: Array, weights: Array | None = None, tape: Tape = NO_TAPE) -> float:
        if labels.shape != logits.shape[:-1] or logits.ndim != 2:
            raise ValueError(f"logits are {logits.shape} and labels {labels.shape}, wanted (N, C) and (N,)")
        if weights is not None and weights.shape != labels.shape:
            raise ValueError(f"weights has shape {weights.shape}, wanted one for each of the {len(labels)} rows")
        check_labels(labels, logits.shape[1], limit_name="the number of classes")
        is_target = labels != IGNORED
        targets = labels[is_target]
        scores = logits if is_target.all() else logits[is_target]
        largest, total = rowwise(_exponentials, scores)
        log_p = scores[np.arange(len(targets)), targets] - largest[:, 0] - np.log(total[:, 0])
        kept = {} if weights is None else {"weights": weights[is_target]}
        if kept:
            log_p = kept["weights"] * log_p
        tape.keep(self, is_target=is_target, targets=targets, scores=scores, largest=largest, total=total, **kept)
        return -log_p.mean()

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dlogits = share · (p − onehot(label))  with  share = dloss / n,  and 0 in rows that are ignored.

        The loss is a mean over n targets, so the gradient of each has the factor dloss / n. The loss of one target with
        logits s is log Σₖ e^(sₖ) − s[label]. By the chain rule, the derivative of its first term is ∂ log Σₖ e^(sₖ) /
        ∂sⱼ = e^(sⱼ) / Σₖ e^(sₖ) = pⱼ. The second term subtracts 1 if j is the label: p − onehot. So a step against the
        gradient raises the label's logit in proportion to 1 − p, and lowers every other logit in proportion to its p. A
        target with weight w has w times the gradient.
        """
        is_target, targets, scores, largest, total, *weights = tape.take(self)
        share = float(dloss) / len(targets)
        dscores: Array = rowwise(lambda s, m, total: np.exp(s - m) * (share / total), scores, largest, total)
        dscores[np.arange(len(targets)), targets] -= share
        if weights:
            dscores *= weights[0][:, None]
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
