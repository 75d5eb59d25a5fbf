"""WeightedCrossEntropy: a cross-entropy with a weight for each target."""

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Tape
from npbert.layers.cross_entropy import SoftmaxCrossEntropy


class WeightedCrossEntropy(SoftmaxCrossEntropy):
    """loss = mean over the targets of −wₙ log p[label].

    logits (N, C)   labels (N,)   weights w (N,), all 1 if not given   loss: a number

    The sum is divided by the number of targets, not by their weights. Give weights[labels] to weigh the classes.

    Raises: ValueError unless each row has a weight; the errors of SoftmaxCrossEntropy.
    """

    constant_inputs = ("weights",)

    def forward(  # type: ignore[override]  # a third input
        self, logits: Array, labels: Array, weights: Array | None = None, tape: Tape = NO_TAPE
    ) -> float:
        if weights is None:
            weights = np.ones(len(labels), logits.dtype)
        if weights.shape != labels.shape:
            raise ValueError(f"weights are {weights.shape}, wanted one for each of the {len(labels)} rows")
        log_p = self.log_p(logits, labels, tape)
        tape.keep(self, weights=weights)
        return -(weights[labels != IGNORED] * log_p).mean()

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dlogits = wₙ · dlogits of SoftmaxCrossEntropy, row by row: each loss is multiplied by a constant."""
        weights = tape.take(self)
        return weights[:, None] * super().backward(dloss, tape)
