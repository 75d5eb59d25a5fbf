"""OneOfMany: a task with one class for each example: the label of a text, or the index of a choice."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from npbert.compute import Array
from npbert.io.errors import InputError
from npbert.io.messages import listed
from npbert.layers import Softmax, SoftmaxCrossEntropy
from npbert.training.log import short
from npbert.training.metrics import accuracy
from npbert.training.tasks.report_rows import row_of
from npbert.training.tasks.table import is_number
from npbert.training.tasks.task import FinetuneTask, JudgedExample, targets_of


class OneOfMany(FinetuneTask):
    """`predict` returns C logits for each example. Its target is the index of the right class."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "loss")
    goal = "accuracy"
    kind: ClassVar[str] = "labels"
    """The kind of its rows in a report."""

    def scores(self, predictions: Array, labels: Array) -> dict[str, float]:
        """Return the metrics of class indices, (N,) each."""
        return {"accuracy": accuracy(predictions, labels)}

    def describe(self, given: Any, true: int, predicted: int) -> dict[str, object]:
        """Return the row of an example in a report."""
        raise NotImplementedError(f"{type(self).__name__} has no describe(given, true, predicted)")

    def judge(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, float]:
        stacked, labels = np.stack(logits), targets_of(examples)
        loss = float(SoftmaxCrossEntropy()(stacked, labels))
        return {**self.scores(stacked.argmax(axis=1), labels), "loss": loss}

    def report_row(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, object]:
        stacked, labels = np.stack(logits), targets_of(examples)
        best, sureness = stacked.argmax(axis=1), Softmax()(stacked).max(axis=1)

        def describe(number: int) -> dict[str, object]:
            shown = self.describe(examples[number].given, int(labels[number]), int(best[number]))
            return {**shown, "probability": short(sureness[number])}

        return row_of(self.kind, best != labels, sureness, describe)


def class_weights(chosen: Sequence[str], targets: Sequence[int], labels: Sequence[str]) -> Array:
    """Return the weight of each label in the loss (C,).

    chosen: "balanced", N / (C · its count), so that rare labels count as much as frequent ones; or some "label=weight",
    all others 1. Raises: InputError for anything else.
    """
    if tuple(chosen) == ("balanced",):
        return len(targets) / (len(labels) * np.maximum(1, np.bincount(targets, minlength=len(labels))))
    weights = np.ones(len(labels))
    for pair in chosen:
        name, _, number = pair.rpartition("=")
        weight = float(number) if is_number(number) else 0.0
        if name not in labels or weight <= 0:
            wanted = f"balanced, or label=weight with a positive weight and one of the labels {listed(labels)}"
            raise InputError(what="class_weight", got=pair, wanted=wanted)
        weights[labels.index(name)] = weight
    return weights
