"""Tasks with one prediction for each example: the best of several classes, or a number."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from npbert.compute import Array
from npbert.inference.classify import best_label
from npbert.layers import Softmax
from npbert.training.tasks.report_rows import Row, Shown, confusion, in_brief, row_of
from npbert.training.tasks.task import Examples, FinetuneTask, Labelled, Logits

_POINTS = 400  # in a picture


class OneOfMany(FinetuneTask):
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
        answers, pairs = [], []
        for example, scores, target in zip(examples, logits, self.targets(examples), strict=True):
            text, classes = self.text_and_classes(example)
            true, (best, probability, _) = classes[target], best_label(Softmax()(scores), classes)
            pairs.append((true, best))
            entries = {"texts": text, "true": true, "predicted": best, "probability": probability}
            answers.append(Shown(best != true, probability, entries))
        row = row_of(self.kind, answers)
        return {**row, **confusion(pairs, self.labels)} if self.kind == "labels" else row


class OneNumber(FinetuneTask):
    """The prediction and the target are numbers."""

    def report_row(self, logits: Logits, examples: Examples) -> Row:
        """Return the largest errors, and pairs of truth and prediction for a picture."""
        answers, pairs = [], list(zip(self.targets(examples), self.decode(np.stack(logits)), strict=True))
        for example, (true, predicted) in zip(examples, pairs, strict=True):
            entries = {"texts": example.given, "true": true, "predicted": predicted}
            answers.append(Shown(True, abs(predicted - true), entries))
        return {**row_of("numbers", answers), "pairs": list(map(in_brief, pairs[:: -(-len(pairs) // _POINTS)]))}
