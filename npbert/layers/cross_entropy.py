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

    Raises: ValueError when labels do not fit logits or hold no target at all; TypeError for labels that are not
    integers; IndexError for a label outside 0 to C − 1 that is not IGNORED.
    """

    def forward(self, logits: Array, labels: Array, tape: Tape = NO_TAPE) -> float:
        return -self.log_p(logits, labels, tape).mean()

    def log_p(self, logits: Array, labels: Array, tape: Tape = NO_TAPE) -> Array:
        """log p[label] (n,) of each of the n targets."""
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

        The loss is a mean over n targets, so each of them has the share dloss / n in its gradient. The loss of one with
        logits s is log Σₖ e^(sₖ) − s[label]. By the chain rule, the derivative of its first term is
        ∂ log Σₖ e^(sₖ) / ∂sⱼ = e^(sⱼ) / Σₖ e^(sₖ) = pⱼ. The second takes 1 away where j is the label: p − onehot. So a
        step against the gradient raises the label's logit by what its probability lacks to 1, and lowers every other by
        its own probability.
        """
        is_target, targets, scores, largest, total = tape.take(self)
        share = float(dloss) / len(targets)
        dscores: Array = rowwise(lambda s, m, total: np.exp(s - m) * (share / total), scores, largest, total)
        dscores[np.arange(len(targets)), targets] -= share
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
