"""CosineLoss and CoSENT: losses for pairs of texts with a similarity score."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Tape
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
        self.error: Loss = MeanSquaredError()

    def forward(self, vectors: Array, target: Array, tape: Tape = NO_TAPE) -> float:
        if vectors.ndim != 3 or vectors.shape[1] != 2 or target.shape != vectors.shape[:1]:
            raise ValueError(f"vectors are {vectors.shape} and target {target.shape}, wanted (B, 2, D) and (B,)")
        unit = self.unit(vectors, tape)
        tape.keep(self, unit=unit)
        cosines = (unit[:, 0] * unit[:, 1]).sum(axis=1)
        return self.error(cosines, target.astype(cosines.dtype), tape)

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dcos from the loss; then cos = a·b on the unit sphere, so da = dcos b and db = dcos a."""
        dcos = self.error.backward(dloss, tape)
        unit = tape.take(self)
        dunit = unit[:, ::-1] * dcos[:, None, None]  # the gradient of each vector is the other
        return self.unit.backward(dunit, tape)


class CoSENT(CosineLoss):
    """loss = log(1 + Σ e^(scale (cosⱼ − cosᵢ)))  over all i, j with targetᵢ > targetⱼ.

    vectors (B, 2, D)   target (B,), scores of any size   loss: a number

    Only the order of the scores counts. (Su 2022, "CoSENT"; CoSENTLoss in sentence-transformers.)

    Raises: as CosineLoss.
    """

    def __init__(self, scale: float = 20.0) -> None:
        super().__init__()
        self.error = WrongOrder(scale)


class WrongOrder(Loss):
    """loss = log(1 + Σ e^(scale (xⱼ − xᵢ)))  over all i, j with targetᵢ > targetⱼ.

    x (B,)   target (B,)   loss: a number

    Every number that should be smaller than another, but is larger, costs by how much it is larger.
    """

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def forward(self, x: Array, target: Array, tape: Tape = NO_TAPE) -> float:
        counts = target[:, None] > target
        excess = np.where(counts, (x - x[:, None]) * self.scale, -np.inf)  # (i, j)
        largest = excess.max(initial=0)
        exponentials = np.exp(excess - largest)
        total = np.exp(-largest) + exponentials.sum()
        tape.keep(self, p=exponentials / total)
        return largest + np.log(total)

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dxₖ = scale · (Σᵢ pᵢₖ − Σⱼ pₖⱼ)  with  p = e^(excess) / (1 + Σ e^(excess)).

        The loss is log Σ e^z with one z that is always 0, so ∂loss/∂zᵢⱼ is the softmax pᵢⱼ. zᵢⱼ = scale (xⱼ − xᵢ) grows
        with xⱼ and shrinks with xᵢ. So xₖ adds the p of its column, where it should be smaller, and subtracts the p of
        its row, where it should be larger.
        """
        p = tape.take(self)
        return (p.sum(axis=0) - p.sum(axis=1)) * (float(dloss) * self.scale)
