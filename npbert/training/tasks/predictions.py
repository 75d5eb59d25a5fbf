"""Tasks with one prediction for each example: the best of several classes, or a number."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from npbert.compute import Array
from npbert.layers import Softmax
from npbert.training.metrics import METRICS
from npbert.training.tasks.report_rows import confusion, in_brief, row_of
from npbert.training.tasks.task import Examples, FinetuneTask, Labelled, Logits, Row, Scores

_POINTS = 400  # in a picture


class OnePrediction(FinetuneTask):
    """Base class: `decode` turns the logits of N examples into a prediction for each."""

    def decode(self, logits: Array) -> Array:
        """Return the predictions (N,) of logits (N, …)."""
        raise NotImplementedError

    def scores(self, predictions: Array, targets: Array) -> Scores:
        """Return the metrics of predictions, (N,) each, without the loss."""
        return {name: METRICS[name](predictions, targets) for name in self.metrics if name != "loss"}

    def judge(self, logits: Logits, examples: Examples) -> Scores:
        stacked, targets = np.stack(logits), self.targets(examples)
        return {**self.scores(self.decode(stacked), targets), "loss": self.loss(stacked, targets)}


class OneOfMany(OnePrediction):
    """`predict` returns C logits for each example. Its target is the index of the right class."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "loss")
    goal = "accuracy"
    kind: ClassVar[str] = "labels"
    """The kind of its rows in a report."""

    def decode(self, logits: Array) -> Array:
        return logits.argmax(axis=1)

    def text_and_classes(self, example: Labelled) -> tuple[Any, Sequence[str]]:
        """Return the text of an example, and the names of its classes, for a report."""
        return example.given, self.labels

    def report_row(self, logits: Logits, examples: Examples) -> Row:
        stacked, targets = np.stack(logits), self.targets(examples)
        best, probability = self.decode(stacked), Softmax()(stacked).max(axis=1)
        columns: dict[str, Any] = {"texts": [], "true": [], "predicted": [], "probability": probability}
        for example, true, predicted in zip(examples, targets, best, strict=True):
            text, classes = self.text_and_classes(example)
            columns["texts"].append(text)
            columns["true"].append(classes[true])
            columns["predicted"].append(classes[predicted])
        row = row_of(self.kind, best != targets, probability, columns)
        if self.kind == "labels":
            row |= confusion(columns["true"], columns["predicted"], self.labels)
        return row


class OneNumber(OnePrediction):
    """The prediction and the target are numbers."""

    def report_row(self, logits: Logits, examples: Examples) -> Row:
        """Return the largest errors, and pairs of truth and prediction for a picture."""
        predicted, true = self.decode(np.stack(logits)), self.targets(examples)
        columns = {"texts": [example.given for example in examples], "true": true, "predicted": predicted}
        error = np.abs(predicted - true)
        pairs = list(zip(true, predicted, strict=True))[:: -(-len(true) // _POINTS)]
        return {**row_of("numbers", error >= 0, error, columns), "pairs": list(map(in_brief, pairs))}
