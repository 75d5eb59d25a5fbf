"""InBatchNegatives: each query has to find its own text among all texts of the batch."""

import numpy as np

from npbert.compute import Array, matmul
from npbert.core.tape import NO_TAPE, Tape
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
        self.unit = UnitLength()

    def forward(self, vectors: Array, texts: Array, tape: Tape = NO_TAPE) -> float:
        if vectors.ndim != 3 or vectors.shape[1] < 2 or texts.shape != vectors.shape[:2]:
            raise ValueError(f"vectors are {vectors.shape} and texts {texts.shape}, wanted (B, C ≥ 2, D) and (B, C)")
        queries = self.unit(vectors[:, 0], tape)  # (B, D)
        found = self.unit(_texts_in_a_row(vectors), tape)  # (B·(C − 1), D), all own texts first
        scores = matmul(queries, found.T) * self.scale  # (B, B·(C − 1))
        allowed = _allowed(texts)
        losses, p = _surprise(scores, allowed)
        back = None
        if self.both_ways:
            count = len(queries)
            others, back = _surprise(scores[:, :count].T, allowed[:, :count].T)
            losses = (losses + others) / 2
        tape.keep(self, queries=queries, found=found, p=p, back=back)
        return losses.mean()

    def backward(self, dloss: float, tape: Tape) -> Array:
        """dscores = share · (p − onehot(own text)); then back through the product and the unit lengths.

        As in SoftmaxCrossEntropy, with share = dloss / B. scores = scale · Q Fᵀ is a product of two matrices, so
        dQ = scale · dscores F and dF = scale · dscoresᵀ Q: a step moves a query towards its own text and away from all
        others, each by its probability. The loss from texts to queries is the same with transposed scores, so its
        gradient is transposed before both are added.
        """
        queries, found, p, back = tape.take(self)
        count = len(queries)
        own = np.arange(count)
        dscores = p.copy()
        dscores[own, own] -= 1
        if back is not None:
            dscores[:, :count] += back.T
            dscores[own, own] -= 1
            dscores /= 2
        dscores *= float(dloss) * self.scale / count
        dfound = self.unit.backward(matmul(dscores.T, queries), tape)
        dqueries = self.unit.backward(matmul(dscores, found), tape)
        return np.concatenate([dqueries[:, None], dfound.reshape(-1, *dqueries.shape).swapaxes(0, 1)], axis=1)


def _texts_in_a_row(array: Array) -> Array:
    """Return the entries of the texts without the queries: all first texts, then all second ones, and so on.

    (B, C, …) -> (B·(C − 1), …)"""
    columns: Array = array[:, 1:].swapaxes(0, 1)
    return columns.reshape(-1, *array.shape[2:])


def _allowed(texts: Array) -> Array:
    """Return the mask of texts in the sum of each query, (B, B·(C − 1)): its own text, and all that do not answer
    it."""
    own, in_a_row = texts[:, 1], _texts_in_a_row(texts)
    answers = own[:, None] == in_a_row
    answers[:, : len(texts)] |= texts[:, :1] == texts[:, 0]
    allowed: Array = ~answers
    allowed[np.arange(len(texts)), np.arange(len(texts))] = True
    return allowed


def _surprise(scores: Array, allowed: Array) -> tuple[Array, Array]:
    """Return −log p[n] for each row n, and p, the softmax of the allowed scores."""
    largest = scores.max(axis=1, keepdims=True)
    exponentials = np.exp(scores - largest) * allowed
    total = exponentials.sum(axis=1, keepdims=True)
    own = np.arange(len(scores))
    return largest[:, 0] + np.log(total[:, 0]) - scores[own, own], exponentials / total
