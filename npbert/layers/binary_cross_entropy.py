"""BinaryCrossEntropy: the mean surprise of a model at the right yes-or-no answers."""

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Tape, check_labels
from npbert.layers.loss import Loss


class BinaryCrossEntropy(Loss):
    """loss = mean over the targets of −log p  with  p = σ(s) where the label is 1, and 1 − σ(s) where it is 0.

    logits s, of any shape   labels of the same: 1, 0, or IGNORED (−100) without a target   loss: in nats

    σ(s) = 1 / (1 + e⁻ˢ) = eˢ / (e⁰ + eˢ): the softmax of two logits, s and 0. So −log p = log(1 + eˢ) − label · s,
    and log(1 + eˢ) = max(s, 0) + log(1 + e^−|s|).
    Random guessing has loss ln 2. (Clark et al. 2020, "ELECTRA", section 2.) Chapter 11 of docs/ derives it.

    Raises: ValueError if labels do not fit logits or have no target; TypeError for labels that are not integers;
    IndexError for a label other than 0, 1 or IGNORED.
    """

    def forward(self, logits: Array, labels: Array, tape: Tape = NO_TAPE) -> float:
        if labels.shape != logits.shape:
            raise ValueError(f"logits are {logits.shape} and labels {labels.shape}, wanted the same shape")
        check_labels(labels, 2, limit_name="the number of answers")
        is_target = labels != IGNORED
        is_one, s = labels[is_target] == 1, logits[is_target]
        small = np.exp(np.minimum(s, -s))  # e^−|s|, which cannot overflow
        tape.keep(self, is_target=is_target, is_one=is_one, p_one=np.where(s > 0, 1, small) / (1 + small))
        return (np.maximum(s, 0) + np.log(1 + small) - is_one * s).mean()

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dlogits = dloss / n · (σ(s) − label),  and 0 where the label is ignored.

        log(1 + eˢ) has the derivative eˢ / (1 + eˢ) = σ(s), and label · s has the derivative label. This is p − onehot,
        as in SoftmaxCrossEntropy, for one of the two logits. The other is always 0, without a gradient.
        """
        is_target, is_one, p_one = tape.take(self)
        dlogits = np.zeros(is_target.shape, p_one.dtype)
        dlogits[is_target] = (p_one - is_one) * (float(dloss) / len(p_one))
        return dlogits

    def count_right(self, logits: Array, labels: Array) -> int:
        """Return the number of targets whose label is the more probable one."""
        return int(((logits > 0) == labels).sum())
