"""BinaryCrossEntropy: the mean surprise of a model at the right yes-or-no answers."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Tape, check_labels
from npbert.layers.cross_entropy import SoftmaxCrossEntropy
from npbert.layers.loss import Loss


class BinaryCrossEntropy(Loss):
    """loss = mean over the targets of −log p  with  p = σ(s) where the label is 1, and 1 − σ(s) where it is 0.

    logits s, of any shape   labels of the same: 1, 0, or IGNORED (−100) without a target   loss: in nats

    σ(s) = 1 / (1 + e⁻ˢ) = eˢ / (e⁰ + eˢ): the softmax of two logits, 0 and s. So it is the SoftmaxCrossEntropy of these
    two: no is class 0, and yes is class 1.
    Random guessing has loss ln 2. (Clark et al. 2020, "ELECTRA", section 2.) Chapter 11 of docs/ derives it.

    Raises: ValueError if labels do not fit logits or have no target; TypeError for labels that are not integers;
    IndexError for a label other than 0, 1 or IGNORED.
    """

    def __init__(self) -> None:
        self.surprise = SoftmaxCrossEntropy()

    def forward(self, logits: Array, labels: Array, tape: Tape = NO_TAPE) -> float:
        if labels.shape != logits.shape:
            raise ValueError(f"logits are {logits.shape} and labels {labels.shape}, wanted the same shape")
        check_labels(labels, 2, limit_name="the number of answers")
        both = np.stack([np.zeros_like(logits), logits], axis=-1)  # (..., 2)
        tape.keep(self, shape=logits.shape)
        return self.surprise(both.reshape(-1, 2), labels.reshape(-1), tape)

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dlogits = dloss / n · (σ(s) − label),  and 0 where the label is ignored.

        This is p − onehot(label), as in SoftmaxCrossEntropy, for the second of the two logits: its p is σ(s), and its
        part of onehot(label) is the label. The first is always 0, without a gradient.
        """
        dboth = self.surprise.backward(dloss, tape)
        shape = tape.take(self)
        return dboth[:, 1].reshape(shape)

    def count_right(self, logits: Array, labels: Array) -> int:
        """Return the number of targets whose label is the more probable one."""
        return int(((logits > 0) == labels).sum())
