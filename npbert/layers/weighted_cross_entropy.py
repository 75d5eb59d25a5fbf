"""WeightedCrossEntropy: a cross-entropy with a weight for each target."""

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Tape
from npbert.layers.cross_entropy import SoftmaxCrossEntropy
from npbert.layers.loss import Loss


class WeightedCrossEntropy(Loss):
    """loss = mean over the targets of −wₙ log p[label].

    logits (N, C)   labels (N,)   weights w (N,), all 1 if not given   loss: a number

    The sum is divided by the number of targets, not by their weights. Give weights[labels] to weigh the classes.

    Raises: ValueError unless each row has a weight; the errors of SoftmaxCrossEntropy.
    """

    constant_inputs = ("weights",)

    def __init__(self) -> None:
        self.cross_entropy = SoftmaxCrossEntropy()

    def forward(self, logits: Array, labels: Array, weights: Array | None = None, tape: Tape = NO_TAPE) -> float:
        if weights is None:
            weights = np.ones(len(labels), logits.dtype)
        if weights.shape != labels.shape:
            raise ValueError(f"weights are {weights.shape}, wanted one for each of the {len(labels)} rows")
        log_p = self.cross_entropy.log_p(logits, labels, tape)
        tape.keep(self, weights=weights)
        return -(weights[labels != IGNORED] * log_p).mean()

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dlogits = wₙ · dlogits of SoftmaxCrossEntropy, row by row: each loss is multiplied by a constant."""
        weights = tape.take(self)
        return weights[:, None] * self.cross_entropy.backward(dloss, tape)

    def count_right(self, logits: Array, labels: Array) -> int:
        """Return the number of right targets, without weights, as SoftmaxCrossEntropy."""
        return self.cross_entropy.count_right(logits, labels)
