"""Classify: the label of a text or of a pair of texts, or the number of a regression."""

from collections.abc import Iterable
from typing import NamedTuple, overload

from npbert.data.tokenizer import Text
from npbert.inference.task import Task
from npbert.layers import Softmax
from npbert.models import BertForSequenceClassification


class Label(NamedTuple):
    """The most probable label, its probability, and the probabilities of all labels by name."""

    label: str
    score: float
    scores: dict[str, float]


class Classify(Task):
    """classify(text) -> a Label, or for a regression a float; for several texts, a list. A pair of texts is a tuple.

    Warns: of texts cut to `max_length`.
    """

    model_class = BertForSequenceClassification
    model: BertForSequenceClassification

    @overload
    def __call__(self, texts: str | tuple[str, str]) -> Label | float: ...  # type: ignore[overload-overlap]  # a str is an Iterable[str], too

    @overload
    def __call__(self, texts: Iterable[Text]) -> list[Label] | list[float]: ...

    def __call__(self, texts: str | tuple[str, str] | Iterable[Text]) -> Label | float | list[Label] | list[float]:
        if isinstance(texts, str | tuple):
            return self([texts])[0]
        logits = self.logits(self.tokenize(texts))
        if self.model.config.num_labels == 1:
            return [float(number) for (number,) in logits]
        names: tuple[str, ...] = self.model.config.label_names
        labels: list[Label] = []
        for row in logits:
            (probabilities,) = Softmax()(row[None]).tolist()
            best = int(row.argmax())
            labels.append(Label(names[best], probabilities[best], dict(zip(names, probabilities, strict=True))))
        return labels
