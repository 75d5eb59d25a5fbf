"""Classification and regression of texts and of pairs of texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from npbert.data.batch import Batch
from npbert.data.tables import Row, read_table
from npbert.data.tokenizer import Encoding
from npbert.files import FileError
from npbert.inference import Task
from npbert.models import BertForSequenceClassification
from npbert.training.metrics import METRICS
from npbert.training.tasks.task import FinetuneTask


class LabelledText(NamedTuple):
    """A text or a pair as tokens, and the number of its label, or the number to be predicted."""

    encoding: Encoding
    label: float


class TextClassification(FinetuneTask):
    """A label for a text, or for a pair. (Devlin et al. 2018, section 4.1.)"""

    model_class = BertForSequenceClassification
    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "macro_f1", "matthews", "f1")
    goal = "accuracy"

    def read(self, path: str) -> list[LabelledText]:
        settings = self.settings
        columns = [settings.label or "1", settings.text, *([settings.text_pair] if settings.text_pair else [])]
        rows = read_table(path, columns, delimiter=settings.delimiter)
        numbers = self.targets(rows)
        texts = [row.values[1] if len(columns) == 2 else (row.values[1], row.values[2]) for row in rows]
        encodings = self.tokenizer.encode(texts, max_length=settings.max_length)
        self.warn_of_cuts(encodings, path)
        return [LabelledText(encoding, number) for encoding, number in zip(encodings, numbers, strict=True)]

    def targets(self, rows: Sequence[Row]) -> Sequence[float]:
        """The number to be predicted for each row, whose first value is its label."""
        self.learn_labels([row.values[0] for row in rows])
        return [self.number_of(row.values[0], row.place) for row in rows]

    def collate(self, examples: Sequence[LabelledText]) -> Batch:
        batch = self.tokenizer.batch([example.encoding for example in examples])
        batch.labels = np.array([example.label for example in examples])
        return batch

    def evaluate(self, model: Any, examples: Sequence[LabelledText]) -> dict[str, float]:
        labels = np.array([example.label for example in examples])
        predictions = np.argmax(self.logits(model, examples), axis=1)
        names = self.metrics if len(self.labels or ()) == 2 else self.metrics[:-1]  # f1 is that of two labels
        return {name: METRICS[name](predictions, labels) for name in names}

    def logits(self, model: Any, examples: Sequence[LabelledText]) -> Any:
        """What the model says of each example, (N, C)."""
        task = Task(model, self.tokenizer)
        return np.stack(task.run([example.encoding for example in examples], lambda batch, _: model(batch)))


class TextRegression(TextClassification):
    """A number for a text, or for a pair: the similarity of two sentences, say. (Devlin et al. 2018, section 4.1.)"""

    metrics = ("pearson", "spearman")
    goal = "pearson"

    def config(self) -> dict[str, Any]:
        return {"num_labels": 1}

    def targets(self, rows: Sequence[Row]) -> Sequence[float]:
        numbers = []
        for (value, *_), place in rows:
            try:
                numbers.append(float(value))
            except ValueError:
                numbers.append(math.nan)
            if not math.isfinite(numbers[-1]):
                raise FileError(f"{place}: {value!r} is no number")
        return numbers

    def evaluate(self, model: Any, examples: Sequence[LabelledText]) -> dict[str, float]:
        labels = np.array([example.label for example in examples])
        predictions = np.asarray(self.logits(model, examples)[:, 0], float)
        return {name: METRICS[name](predictions, labels) for name in self.metrics}
