"""InBatchNegatives: each query has to find its own text among all texts of the batch."""

import numpy as np

from npbert.compute import Array, matmul
from npbert.core import NO_TAPE, Tape
from npbert.layers.cross_entropy import SoftmaxCrossEntropy
from npbert.layers.loss import Loss
from npbert.layers.unit_length import UnitLength


class InBatchNegatives(Loss):
    """loss = mean over the queries of −log p[own text]  with  p = softmax(scale · cosine(query, every text)).

    vectors (B, C, D): for each group the query, the text that answers it, and C − 2 texts that do not
    texts (B, C): a number for each text, equal for equal texts   loss: a number, in nats

    The texts of the other groups are the wrong answers: a batch of B pairs is a classification with B classes, without
    labels. Further right answers are left out of the sum: a text equal to the query's own text, and the own text of an
    equal query.

    both_ways: each text also has to find its query; the loss is the mean of both.
    scale: multiplies the cosines, as numbers between −1 and 1 are too close together for a softmax.

    (van den Oord et al. 2018, "Representation learning with contrastive predictive coding", section 2.3: InfoNCE.
    Henderson et al. 2017, "Efficient natural language response suggestion", section 4.4: several negatives from the
    batch. sentence-transformers calls it MultipleNegativesRankingLoss.)

    Raises: ValueError when vectors are not (B, C, D) with C ≥ 2, or texts not (B, C).
    """

    def __init__(self, scale: float = 20.0, *, both_ways: bool = False) -> None:
        self.scale, self.both_ways = scale, both_ways
        self.unit, self.surprise = UnitLength(), SoftmaxCrossEntropy()

    def forward(self, vectors: Array, texts: Array, tape: Tape = NO_TAPE) -> float:
        if vectors.ndim != 3 or vectors.shape[1] < 2 or texts.shape != vectors.shape[:2]:
            raise ValueError(f"vectors are {vectors.shape} and texts {texts.shape}, wanted (B, C ≥ 2, D) and (B, C)")
        unit = self.unit(vectors, tape)
        queries, found = unit[:, 0], _in_a_row(unit)  # (B, D), (B·(C − 1), D)
        scores = np.where(_answers_too(texts), -np.inf, matmul(queries, found.T) * self.scale)  # (B, B·(C − 1))
        own = np.arange(len(queries))
        loss = self.surprise(scores, own, tape)
        if self.both_ways:
            loss = (loss + self.surprise(scores[:, own].T, own, tape)) / 2
        tape.keep(self, queries=queries, found=found)
        return loss

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dscores from the cross-entropy; then back through the product and the unit lengths.

        scores = scale · Q Fᵀ is a product of two matrices, so dQ = scale · dscores F and dF = scale · dscoresᵀ Q. With
        dscores = share · (p − onehot(own text)), a step moves a query towards its own text and away from all others,
        each by its probability. The loss from texts to queries is the same with transposed scores, so its gradient is
        transposed before both are added.
        """
        queries, found = tape.take(self)
        share = float(dloss) / (1 + self.both_ways)
        back = self.surprise.backward(share, tape).T if self.both_ways else 0
        dscores = self.surprise.backward(share, tape)
        dscores[:, : len(queries)] += back
        dscores *= self.scale
        dqueries, dfound = matmul(dscores, found), matmul(dscores.T, queries)
        dothers = dfound.reshape(-1, *queries.shape).swapaxes(0, 1)
        return self.unit.backward(np.concatenate([dqueries[:, None], dothers], axis=1), tape)


def _in_a_row(array: Array) -> Array:
    """Return the entries of the texts without the queries: all first texts, the queries' own, then all second ones, and
    so on.

    (B, C, …) -> (B·(C − 1), …)"""
    return array[:, 1:].swapaxes(0, 1).reshape(-1, *array.shape[2:])


def _answers_too(texts: Array) -> Array:
    """Return the mask of other right texts for each query (B, B·(C − 1))."""
    answers = texts[:, 1:2] == _in_a_row(texts)
    answers[:, : len(texts)] |= texts[:, :1] == texts[:, 0]
    np.fill_diagonal(answers, False)
    return answers
