"""TripletLoss: a text should be closer to a matching text than to another one, by a margin."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Tape
from npbert.layers.loss import Loss


class TripletLoss(Loss):
    """loss = mean max(0, ‖a − p‖ − ‖a − n‖ + margin)  for the anchor a, the positive p and the negative n of a group.

    vectors (B, 3, D)   target (B, 3), not used   loss: a number

    (Reimers & Gurevych 2019, "Sentence-BERT", section 3: their triplet objective, with its margin of 1; 5 is that of
    sentence-transformers.) Raises: ValueError when vectors are not (B, 3, D).
    """

    def __init__(self, margin: float = 5.0) -> None:
        self.margin = margin

    def forward(self, vectors: Array, target: Array, tape: Tape = NO_TAPE) -> float:
        if vectors.ndim != 3 or vectors.shape[1] != 3:
            raise ValueError(f"vectors are {vectors.shape}, wanted (B, 3, D): an anchor, a positive and a negative")
        differences = vectors[:, :1] - vectors[:, 1:]  # (B, 2, D)
        distances = np.sqrt((differences * differences).sum(axis=2))  # (B, 2)
        excess = distances[:, 0] - distances[:, 1] + self.margin
        tape.keep(self, differences=differences, distances=distances, is_wrong=excess > 0)
        return np.where(excess > 0, excess, 0).mean()

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dp = −share · (a − p) / ‖a − p‖,  dn = share · (a − n) / ‖a − n‖,  da = −dp − dn  if the margin is missed.

        share = dloss / B. The slope of a distance is a vector of length 1, away from the other point, at any distance.
        For equal vectors it is 0.
        """
        differences, distances, is_wrong = tape.take(self)
        slopes = differences / np.where(distances == 0, 1, distances)[:, :, None]
        dothers = slopes * is_wrong[:, None, None] * (float(dloss) / len(differences))
        dothers[:, 0] = -dothers[:, 0]
        return np.concatenate([-dothers.sum(axis=1, keepdims=True), dothers], axis=1)
