"""The labels of texts: Classify, by a fine-tuned model, and ClassCenters, by a few examples of each label."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.inference.embed import Embed, Hit, scaled, similarity
from npbert.inference.task import ForTexts
from npbert.io import InputError
from npbert.layers import Softmax
from npbert.models import BertForSequenceClassification


class Label(NamedTuple):
    """The most probable label, its probability, and the probabilities of all labels by name."""

    label: str
    score: float
    scores: dict[str, float]


class Classify(ForTexts[Label | float]):
    """classify(text) -> a Label, or for a regression a float; for several texts, a list. A pair of texts is a tuple.

    Warns: of texts cut to `max_length`.
    """

    model_class = BertForSequenceClassification
    model: BertForSequenceClassification
    one = (str, tuple)

    def result(self, text: Any, encoding: Any, logits: Array) -> Label | float:
        if self.model.config.num_labels == 1:
            return float(logits[0])
        return best_label(Softmax()(logits), self.model.config.label_names)

    def rerank(self, query: str, texts: Iterable[str]) -> list[Hit]:
        """Return the index of each text with its score for the query, best first; the lower index first for equal
        scores.

        A search by vectors reads query and text separately: it is fast, and its vectors can be stored. A cross-encoder,
        a model of pairs with one label, reads both together: it is more accurate, and takes a forward pass for each
        pair. So the first finds some texts, and the second sorts them. (Nogueira & Cho 2019, "Passage re-ranking with
        BERT".)

        Raises: InputError for a model with several labels.
        """
        labels = self.model.config.num_labels
        if labels != 1:
            raise InputError(f"the model has {labels} labels", wanted="one, the score of a pair of texts")
        scores: list[Any] = self.results([(query, text) for text in texts])
        return sorted(map(Hit, range(len(scores)), scores), key=lambda hit: -hit.score)


def best_label(scores: Array, names: Sequence[str]) -> Label:
    """Return the label with the highest of the scores (C,)."""
    by_name = dict(zip(names, scores.tolist(), strict=True))
    best = names[int(scores.argmax())]
    return Label(best, by_name[best], by_name)


class ClassCenters:
    """classify(texts) -> a Label for each: the label of the most similar center, with the cosine to each center.

    The center of a label is the mean of the vectors, of length 1, of its examples. (Snell et al. 2017, "Prototypical
    networks for few-shot learning", section 2.2.)

    texts, labels: the examples, a few of each label.
    """

    def __init__(self, embed: Embed, texts: Sequence[str], labels: Sequence[str]) -> None:
        self.embed, self.labels = embed, sorted(set(labels))
        vectors, of_each = scaled(embed(texts)), np.array(labels)
        self.centers = np.stack([vectors[of_each == label].mean(axis=0) for label in self.labels])

    def __call__(self, texts: Iterable[str]) -> list[Label]:
        return [best_label(scores, self.labels) for scores in similarity(self.embed(texts), self.centers)]
