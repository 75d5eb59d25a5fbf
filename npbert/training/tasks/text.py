"""Classification and regression of texts and of pairs of texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tables import TableRow
from npbert.data.tokenizer import Text
from npbert.inference import Classify
from npbert.io.errors import InputError, InputWarning, Place, Setting
from npbert.io.files import FileError
from npbert.io.messages import listed, warn
from npbert.layers import MeanSquaredError
from npbert.training.log import short
from npbert.training.metrics import METRICS, ClassScores, class_scores, f1
from npbert.training.tasks.classes import OneOfMany
from npbert.training.tasks.report_rows import MOST, confusion, cut
from npbert.training.tasks.table import Table, are_measures, find_labels, is_number, number_of
from npbert.training.tasks.task import FinetuneTask, JudgedExample, Labelled, TaskSettings, targets_of

_ENOUGH = 50  # examples, to decide that a column has no texts
_POINTS = 400  # in a picture

Targets = tuple[Sequence[float], tuple[str, ...] | None]


class TextTask(FinetuneTask, Classify):
    """A text, or a pair of texts, with a target."""

    @classmethod
    def read(
        cls, path: str, settings: TaskSettings, labels: Sequence[str] | None = None
    ) -> tuple[list[Labelled], tuple[str, ...] | None]:
        pair = [("text_pair", settings.text_pair)] if settings.text_pair else []
        is_weighed = labels is None and bool(settings.sample_weight)  # what only judges a model needs no weights
        table = Table(path, settings, *pair, *([("sample_weight", settings.sample_weight)] if is_weighed else []))
        targets, found = cls.targets(table, settings, labels)
        weights = [_weight(row) if is_weighed else 1.0 for row in table.rows]
        texts: list[Any] = [row.values[1:3] if pair else row.values[1] for row in table.rows]
        if len(texts) >= _ENOUGH and len(set(texts)) * 10 <= len(texts):
            first = table.rows[0].values[1]
            says = f"only {len(set(texts))} of {len(texts):,} texts differ; the first is {listed([first])}"
            hint = (Setting("text"), " names the column of the texts")
            warn(InputWarning(says, where=Place(path), hint=hint))
        return list(map(Labelled, texts, targets, weights)), found

    @classmethod
    def targets(cls, table: Table, settings: TaskSettings, labels: Sequence[str] | None) -> Targets:
        """Return the target of each row, and the names of the labels. labels: known labels. Raises: FileError."""
        raise NotImplementedError(f"{cls.__name__} has no targets(table, settings, labels)")


class TextClassification(OneOfMany, TextTask):
    """A label for a text, or for a pair. (Devlin et al. 2018, section 4.1.)"""

    metrics = ("accuracy", "macro_f1", "matthews", "f1", "loss")
    has_positive = True

    @classmethod
    def targets(cls, table: Table, settings: TaskSettings, labels: Sequence[str] | None) -> Targets:
        """Return the number of each row's label, and the labels.

        Raises: FileError for a first row that looks like names of columns, or an empty or unknown label; ValueError if
        no label is the chosen positive one.
        """
        table.check_first_row(labels)
        path = table.rows[0].place.path
        if labels is None and are_measures(set(table.labels)):
            says = f"the {len(set(table.labels))} labels are numbers"
            hint = (Setting("task", ("regression",)), " predicts them as numbers")
            warn(InputWarning(says, where=Place(path), hint=hint))
        for row in table.rows:
            if not row.values[0].strip():
                raise FileError("the label is empty", where=row.place)
        labels = find_labels(table.labels, path) if labels is None else tuple(labels)
        if settings.positive and settings.positive not in labels:
            raise InputError(what="positive", got=settings.positive, wanted=f"one of the labels: {listed(labels)}")
        return [number_of(row.values[0], labels, row.place) for row in table.rows], labels

    @property
    def positive(self) -> int | None:
        """Return the number of the positive label of f1, or None."""
        if self.settings.positive:
            return self.labels.index(self.settings.positive)
        return 1 if len(self.labels) == 2 else None

    def collate(self, examples: Sequence[JudgedExample]) -> Batch:
        batch = super().collate(examples)
        batch.sample_weight = np.array([example.weight for example in examples])
        return batch

    def name_of(self, target: float) -> str:
        return self.labels[int(target)]

    def title_of(self, metric: str) -> str:
        positive = self.positive if metric == "f1" else None
        return super().title_of(metric) if positive is None else f"f1 (of {self.name_of(positive)!r})"

    def class_scores(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, ClassScores]:
        scores = class_scores(np.stack(logits).argmax(axis=1), targets_of(examples))
        return {self.name_of(number): each for number, each in scores.items()}

    def describe(self, given: Text, true: int, predicted: int) -> dict[str, object]:
        return {"texts": _texts(given), "true": cut(self.labels[true]), "predicted": cut(self.labels[predicted])}

    def report_row(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, object]:
        labels, best = targets_of(examples), np.stack(logits).argmax(axis=1)
        return {**super().report_row(logits, examples), **confusion(labels, best, self.labels)}

    def baselines(self, examples: Sequence[JudgedExample]) -> dict[str, float]:
        labels = targets_of(examples)
        counts = np.bincount(labels)
        shares = counts[counts > 0] / len(labels)
        return {**self.scores(np.full_like(labels, counts.argmax()), labels), "loss": float(-shares @ np.log(shares))}

    def scores(self, predictions: Array, labels: Array) -> dict[str, float]:
        metrics = {name: METRICS[name](predictions, labels) for name in ("accuracy", "macro_f1", "matthews")}
        return metrics if self.positive is None else {**metrics, "f1": f1(predictions, labels, self.positive)}


class TextRegression(TextTask):
    """A number for a text or a pair, for example the similarity of two sentences. (Devlin et al. 2018, section 4.1.)"""

    metrics = ("pearson", "spearman", "loss")
    goal = "pearson"

    @classmethod
    def config(cls, labels: Sequence[str] | None) -> dict[str, Any]:
        return {"num_labels": 1}

    @classmethod
    def model_options(cls, folder: str | Path, options: dict[str, Any]) -> dict[str, Any]:
        return cls.config(None)

    @classmethod
    def targets(cls, table: Table, settings: TaskSettings, labels: Sequence[str] | None) -> Targets:
        for row in table.rows:
            if not is_number(row.values[0]):
                raise FileError(f"{listed([row.values[0]])} is not a number", where=row.place, hint=table.hint(row))
        return [float(label) for label in table.labels], None

    def judge(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, float]:
        predictions, targets = np.stack(logits)[:, 0].astype(float), targets_of(examples)
        metrics = {name: METRICS[name](predictions, targets) for name in ("pearson", "spearman")}
        return {**metrics, "loss": float(MeanSquaredError()(predictions, targets))}

    def report_row(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, object]:
        return numbers_row(np.stack(logits)[:, 0].astype(float), examples)

    def baselines(self, examples: Sequence[JudgedExample]) -> dict[str, float]:
        return {"loss": float(np.var(targets_of(examples)))}


def numbers_row(predictions: Array, examples: Sequence[JudgedExample]) -> dict[str, object]:
    """Return a row of numbers for shown.jsonl: those with the largest errors, and pairs of prediction and truth for a
    picture."""
    targets = targets_of(examples)
    furthest = np.argsort(-np.abs(predictions - targets), kind="stable")[:MOST]
    pairs = [[short(number) for number in pair] for pair in zip(targets, predictions, strict=True)]
    worst = [
        {"texts": _texts(examples[number].given), "true": pairs[number][0], "predicted": pairs[number][1]}
        for number in furthest
    ]
    drawn = pairs[:: -(-len(examples) // _POINTS)]
    return {"kind": "numbers", "examples": len(examples), "worst": worst, "pairs": drawn}


def _weight(row: TableRow) -> float:
    """Return the weight of a row, the last of its values. Raises: FileError."""
    text = row.values[-1]
    if not is_number(text) or float(text) < 0:
        raise FileError(f"sample_weight is {text!r:.60}, wanted a number from 0 on", where=row.place)
    return float(text)


def _texts(text: Text) -> list[str]:
    """Return the text, or both texts of a pair, shortened."""
    return [cut(part) for part in ([text] if isinstance(text, str) else text)]
