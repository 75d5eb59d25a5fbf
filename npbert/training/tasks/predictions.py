"""Tasks with one prediction for each example: the best of several classes, or a number."""

from typing import Any, ClassVar

import numpy as np

from npbert.compute import Array
from npbert.layers import Softmax, SoftmaxCrossEntropy
from npbert.training.metrics import METRICS
from npbert.training.tasks.report_rows import confusion, in_brief, row_of
from npbert.training.tasks.task import Examples, FinetuneTask, Logits, Row, Scores

_POINTS = 400  # in a picture


class OnePrediction(FinetuneTask):
    """Base class: `decode` turns the logits of N examples into a prediction for each."""

    def decode(self, logits: Array) -> Array:
        """Return the predictions (N,) of logits (N, …)."""
        raise NotImplementedError

    def loss(self, logits: Array, targets: Array) -> float:
        """Return the loss of training."""
        raise NotImplementedError

    def scores(self, predictions: Array, targets: Array) -> Scores:
        """Return the metrics of predictions, (N,) each, without the loss."""
        return {name: METRICS[name](predictions, targets) for name in self.metrics if name != "loss"}

    def judge(self, logits: Logits, examples: Examples) -> Scores:
        stacked, targets = np.stack(logits), self.targets(examples)
        return {**self.scores(self.decode(stacked), targets), "loss": float(self.loss(stacked, targets))}


class OneOfMany(OnePrediction):
    """`predict` returns C logits for each example. Its target is the index of the right class."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "loss")
    goal = "accuracy"
    kind: ClassVar[str] = "labels"
    """The kind of its rows in a report."""

    def decode(self, logits: Array) -> Array:
        best: Array = logits.argmax(axis=1)
        return best

    def loss(self, logits: Array, targets: Array) -> float:
        return SoftmaxCrossEntropy()(logits, targets)

    def shown(self, given: Any) -> Any:
        """Return the text of an example in a report."""
        return given

    def named(self, examples: Examples, numbers: Array) -> list[str]:
        """Return the class of each example with this number, in words."""
        return [self.labels[number] for number in numbers]

    def report_row(self, logits: Logits, examples: Examples) -> Row:
        stacked, targets = np.stack(logits), self.targets(examples)
        best, sureness = self.decode(stacked), Softmax()(stacked).max(axis=1)
        texts = [self.shown(example.given) for example in examples]
        true, predicted = self.named(examples, targets), self.named(examples, best)
        columns = {"texts": texts, "true": true, "predicted": predicted, "probability": sureness}
        row = row_of(self.kind, best != targets, sureness, columns)
        return {**row, **confusion(true, predicted, self.labels)} if self.kind == "labels" else row


class OneNumber(OnePrediction):
    """The prediction and the target are numbers."""

    def report_row(self, logits: Logits, examples: Examples) -> Row:
        """Return the largest errors, and pairs of truth and prediction for a picture."""
        predicted, true = self.decode(np.stack(logits)), self.targets(examples)
        columns = {"texts": [example.given for example in examples], "true": true, "predicted": predicted}
        error = np.abs(predicted - true)
        row = row_of("numbers", error >= 0, error, columns)
        return {**row, "pairs": in_brief(list(zip(true, predicted, strict=True)))[:: -(-len(true) // _POINTS)]}
