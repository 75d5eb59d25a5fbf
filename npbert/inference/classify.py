"""Classify: the label of a text, or of a pair of texts; or a number, from a regression."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from npbert.data.batch import Batch
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
    """classify(text) -> a Label, or from a regression a float; of several texts a list. A pair of texts is a tuple.

    Warns: of texts that are longer than `max_length`, and are cut.
    """

    model_class = BertForSequenceClassification

    def __call__(self, texts: str | tuple[str, str] | Iterable[Text]) -> Any:
        if isinstance(texts, str | tuple):
            return self([texts])[0]
        return self.run(self.encode(texts), self._label)

    def _label(self, batch: Batch, _: Sequence[int]) -> list[Label] | list[float]:
        logits = self.model(batch)
        if self.model.config.num_labels == 1:
            return [float(number) for number in logits[:, 0]]
        names = self.model.config.label_names
        labels = []
        for row in Softmax()(logits):
            best = int(row.argmax())
            labels.append(Label(names[best], float(row[best]), dict(zip(names, map(float, row), strict=True))))
        return labels
