"""Classification and regression of texts and of pairs of texts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.listed import listed
from npbert.data.tables import Row
from npbert.data.tokenizer import Encoding, Text
from npbert.files import FileError
from npbert.inference import Task
from npbert.layers import MeanSquaredError, Softmax, SoftmaxCrossEntropy
from npbert.models import BertForSequenceClassification
from npbert.training.metrics import METRICS, f1
from npbert.training.parallel import shared_out
from npbert.training.tasks.header import how_to_say, is_number, is_unlike_the_others
from npbert.training.tasks.labels import are_measures
from npbert.training.tasks.shown import MOST, confusion, cut, short, surest, texts_of
from npbert.training.tasks.task import FinetuneTask

_ENOUGH = 50  # examples, to say of a column that it holds no texts
_POINTS = 400  # that a picture shows


class LabelledText(NamedTuple):
    """A text or a pair as tokens, the number of its label, or the number to be predicted, and the text itself."""

    encoding: Encoding
    label: float
    text: Text


class TextClassification(FinetuneTask):
    """A label for a text, or for a pair. (Devlin et al. 2018, section 4.1.)"""

    model_class = BertForSequenceClassification
    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "macro_f1", "matthews", "f1", "loss")
    goal = "accuracy"

    def read(self, path: str) -> list[LabelledText]:
        settings = self.settings
        columns = [("label", settings.label or "1"), ("text", settings.text)]
        columns += [("text_pair", settings.text_pair)] if settings.text_pair else []
        rows = self.read_rows(path, columns)
        numbers = self.targets(rows, columns)
        texts: list[Text] = [row.values[1] if len(columns) == 2 else (row.values[1], row.values[2]) for row in rows]
        if len(texts) >= _ENOUGH and len(set(texts)) * 10 <= len(texts):
            warnings.warn(
                f"{path}: only {len(set(texts))} of {len(texts):,} texts differ, the first is "
                f"{listed([rows[0].values[1]])}; --text says which column the texts are in",
                stacklevel=2,
            )
        encodings = self.tokenizer.encode(texts, max_length=settings.max_length)
        self.warn_of_cuts(encodings, path)
        return [LabelledText(*parts) for parts in zip(encodings, numbers, texts, strict=True)]

    def targets(self, rows: Sequence[Row], columns: Sequence[tuple[str, str]]) -> Sequence[float]:
        """The number to be predicted for each row, whose first value is its label. columns: as in read_rows.

        Raises: FileError for a first row that looks like the names of the columns, or a label that is empty or unknown.
        """
        names, first = [row.values[0] for row in rows], rows[0]
        if self.may_be_header(0, columns):
            if self.labels is None:
                is_unlike = is_unlike_the_others(names)
            else:
                is_unlike = names[0] not in self.labels and set(names[1:]) <= set(self.labels)
            said = f"{first.place}: no other row has the label {names[0]!r}; {how_to_say(first, columns)}"
            if is_unlike:
                raise FileError(said)
            if is_unlike is None:
                warnings.warn(said, stacklevel=3)
        if self.labels is None and are_measures(set(names)):
            warnings.warn(
                f"{first.path}: the {len(set(names))} labels are numbers; --task regression learns them as numbers",
                stacklevel=3,
            )
        for row in rows:
            if not row.values[0].strip():
                raise FileError(f"{row.place}: the label is empty")
        self.learn_labels(names, first.path)
        return [self.number_of(name, row.place) for name, row in zip(names, rows, strict=True)]

    def learn_labels(self, names: Sequence[str], path: str) -> None:
        super().learn_labels(names, path)
        chosen, labels = self.settings.positive, self.labels or ()
        if chosen and chosen not in labels:
            raise ValueError(f"positive is {chosen!r}, wanted one of the labels: {listed(labels)}")

    @property
    def positive(self) -> int | None:
        """The number of the label that f1 is about, or None where there is none."""
        chosen, labels = self.settings.positive, self.labels or ()
        if chosen:
            return labels.index(chosen)
        return 1 if len(labels) == 2 else None

    def title_of(self, metric: str) -> str:
        positive = self.positive if metric == "f1" else None
        return super().title_of(metric) if positive is None else f"f1 (of {self.name_of(positive)!r})"

    def collate(self, examples: Sequence[LabelledText]) -> Batch:
        batch = self.tokenizer.batch([example.encoding for example in examples])
        batch.labels = np.array([example.label for example in examples])
        return batch

    def predict(self, model: Any, examples: Sequence[LabelledText]) -> Array:
        """What the model says of each example, (N, C)."""
        task, encodings = Task(model, self.tokenizer), [example.encoding for example in examples]
        return np.stack(shared_out(self.communicator, encodings, lambda own: task.run(own, lambda b, _: model(b))))

    def judge(self, said: Array, examples: Sequence[LabelledText]) -> dict[str, float]:
        labels = np.array([example.label for example in examples])
        return {
            **self._metrics(said.argmax(axis=1), labels),
            "loss": float(SoftmaxCrossEntropy().forward(said, labels)),
        }

    def show(self, said: Array, examples: Sequence[LabelledText]) -> dict[str, Any]:
        labels, best = np.array([example.label for example in examples]), said.argmax(axis=1)
        scores = Softmax()(said).max(axis=1)
        worst = [
            {
                "texts": texts_of(examples[number].text),
                "true": cut(self.name_of(labels[number])),
                "predicted": cut(self.name_of(best[number])),
                "probability": short(scores[number]),
            }
            for number in surest(best != labels, scores)
        ]
        counts = confusion(labels, best, self.labels or ())
        total = {"examples": len(examples), "wrong": int((best != labels).sum())}
        return {"kind": "labels", **total, "worst": worst, **counts}

    def baselines(self, examples: Sequence[LabelledText]) -> dict[str, float]:
        labels = np.array([example.label for example in examples])
        counts = np.bincount(labels)
        shares = counts[counts > 0] / len(labels)
        return {**self._metrics(np.full_like(labels, counts.argmax()), labels), "loss": float(-shares @ np.log(shares))}

    def _metrics(self, predictions: Any, labels: Any) -> dict[str, float]:
        metrics = {name: METRICS[name](predictions, labels) for name in ("accuracy", "macro_f1", "matthews")}
        return metrics if self.positive is None else {**metrics, "f1": f1(predictions, labels, self.positive)}


class TextRegression(TextClassification):
    """A number for a text, or for a pair: the similarity of two sentences, say. (Devlin et al. 2018, section 4.1.)"""

    metrics = ("pearson", "spearman", "loss")
    goal = "pearson"

    def config(self) -> dict[str, Any]:
        return {"num_labels": 1}

    def baselines(self, examples: Sequence[LabelledText]) -> dict[str, float]:
        return {"loss": float(np.var([example.label for example in examples]))}

    def targets(self, rows: Sequence[Row], columns: Sequence[tuple[str, str]]) -> Sequence[float]:
        for index, row in enumerate(rows):
            value = row.values[0]
            if not is_number(value):
                hint = f"; {how_to_say(row, columns)}" if self.may_be_header(index, columns) else ""
                raise FileError(f"{row.place}: {listed([value])} is no number{hint}")
        return [float(row.values[0]) for row in rows]

    def judge(self, said: Array, examples: Sequence[LabelledText]) -> dict[str, float]:
        labels = np.array([example.label for example in examples])
        predictions = np.asarray(said[:, 0], float)
        metrics = {name: METRICS[name](predictions, labels) for name in ("pearson", "spearman")}
        return {**metrics, "loss": float(MeanSquaredError().forward(predictions, labels))}

    def show(self, said: Array, examples: Sequence[LabelledText]) -> dict[str, Any]:
        """Instead of wrong answers those that are furthest from the truth; and pairs of both, to be drawn."""
        labels, best = np.array([example.label for example in examples]), said[:, 0].astype(float)
        furthest = np.argsort(-np.abs(best - labels), kind="stable")[:MOST]
        worst = [
            {
                "texts": texts_of(examples[number].text),
                "true": short(labels[number]),
                "predicted": short(best[number]),
            }
            for number in furthest
        ]
        every = -(-len(examples) // _POINTS)
        pairs = [[short(true), short(ours)] for true, ours in zip(labels[::every], best[::every], strict=True)]
        return {"kind": "numbers", "examples": len(examples), "worst": worst, "pairs": pairs}
