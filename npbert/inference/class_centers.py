"""ClassCenters: a classifier from a few examples of each label, without training."""

from collections.abc import Iterable, Sequence

import numpy as np

from npbert.inference.classify import Label, best_label
from npbert.inference.embed import Embed
from npbert.inference.search import similarity, unit_vectors


class ClassCenters:
    """classify(texts) -> a Label for each: the label of the most similar center, with the cosine to each center.

    The center of a label is the mean of the vectors, of length 1, of its examples. (Snell et al. 2017, "Prototypical
    networks for few-shot learning", section 2.2.)

    texts, labels: the examples, a few of each label.
    """

    def __init__(self, embed: Embed, texts: Sequence[str], labels: Sequence[str]) -> None:
        self.embed, self.labels = embed, sorted(set(labels))
        vectors, of_each = unit_vectors(embed(texts)), np.array(labels)
        self.centers = np.stack([vectors[of_each == label].mean(axis=0) for label in self.labels])

    def __call__(self, texts: Iterable[str]) -> list[Label]:
        return [best_label(scores, self.labels) for scores in similarity(self.embed(texts), self.centers)]
