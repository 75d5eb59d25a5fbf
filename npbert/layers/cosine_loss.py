"""CosineLoss and CoSENT: losses for pairs of texts with a similarity score."""

import numpy as np

from npbert.compute import Array
from npbert.core.tape import NO_TAPE, Tape
from npbert.layers.loss import Loss
from npbert.layers.mean_squared_error import MeanSquaredError
from npbert.layers.unit_length import UnitLength


class CosineLoss(Loss):
    """loss = mean (cos − target)²  with  cos = cosine of the two vectors of a pair.

    vectors (B, 2, D)   target (B,), scores between −1 and 1   loss: a number

    (Reimers & Gurevych 2019, "Sentence-BERT", section 3: their regression objective. sentence-transformers calls it
    CosineSimilarityLoss.) Raises: ValueError when vectors are not (B, 2, D), or target not (B,).
    """

    def __init__(self) -> None:
        self.unit = UnitLength()
        self.error = MeanSquaredError()

    def forward(self, vectors: Array, target: Array, tape: Tape = NO_TAPE) -> float:
        return self.loss_of(self.cosines(vectors, target, tape), target, tape)

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dcos from the loss; then cos = a·b on the unit sphere, so da = dcos b and db = dcos a."""
        return self.cosines_backward(self.loss_of_backward(dloss, tape), tape)

    def loss_of(self, cosines: Array, target: Array, tape: Tape) -> float:
        """Return the loss of the cosines (B,)."""
        return self.error(cosines, target.astype(cosines.dtype), tape)

    def loss_of_backward(self, dloss: float, tape: Tape) -> Array:
        """Return dcos (B,): the backward of `loss_of`."""
        return self.error.backward(dloss, tape)

    def cosines(self, vectors: Array, target: Array, tape: Tape = NO_TAPE) -> Array:
        """Return the cosine of each pair (B,)."""
        if vectors.ndim != 3 or vectors.shape[1] != 2 or target.shape != vectors.shape[:1]:
            raise ValueError(f"vectors are {vectors.shape} and target {target.shape}, wanted (B, 2, D) and (B,)")
        unit = self.unit(vectors.reshape(-1, vectors.shape[2]), tape).reshape(vectors.shape)
        tape.keep(self, unit=unit)
        cosines: Array = (unit[:, 0] * unit[:, 1]).sum(axis=1)
        return cosines

    def cosines_backward(self, dcos: Array, tape: Tape) -> Array:
        """Return dvectors (B, 2, D): the backward of `cosines`."""
        unit = tape.take(self)
        dunit = unit[:, ::-1] * dcos[:, None, None]  # the gradient of each vector is the other
        return self.unit.backward(dunit.reshape(-1, unit.shape[2]), tape).reshape(unit.shape)


class CoSENT(CosineLoss):
    """loss = log(1 + Σ e^(scale (cosⱼ − cosᵢ)))  over all i, j with targetᵢ > targetⱼ.

    vectors (B, 2, D)   target (B,), scores of any size   loss: a number

    Only the order of the scores matters: a pair with a lower score but a larger cosine than another adds to the loss by
    the difference of the cosines. (Su 2022, "CoSENT"; CoSENTLoss in sentence-transformers.)

    Raises: as CosineLoss.
    """

    def __init__(self, scale: float = 20.0) -> None:
        super().__init__()
        self.scale = scale

    def loss_of(self, cosines: Array, target: Array, tape: Tape) -> float:
        excess = (cosines - cosines[:, None]) * self.scale  # (i, j)
        counts = target[:, None] > target
        largest = np.where(counts, excess, 0).max(initial=0)
        exponentials = np.exp(np.where(counts, excess, 0) - largest) * counts
        total = np.exp(-largest) + exponentials.sum()
        tape.keep(self, p=exponentials / total)
        return largest + np.log(total)

    def loss_of_backward(self, dloss: float, tape: Tape) -> Array:
        """dcosₖ = scale · (Σᵢ pᵢₖ − Σⱼ pₖⱼ)  with  p = e^(excess) / (1 + Σ e^(excess)).

        The loss is log Σ e^z with one z that is always 0, so ∂loss/∂zᵢⱼ is the softmax pᵢⱼ. zᵢⱼ = scale (cosⱼ − cosᵢ)
        grows with cosⱼ and shrinks with cosᵢ. So cosₖ adds the p of its column, where it should be smaller, and
        subtracts the p of its row, where it should be larger.
        """
        p = tape.take(self)
        dcos: Array = (p.sum(axis=0) - p.sum(axis=1)) * (float(dloss) * self.scale)
        return dcos
