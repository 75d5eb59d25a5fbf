"""Tasks with one prediction for each example: the label of a text or of a pair, the right choice, or a number."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from npbert.compute import Array
from npbert.data import Batch, Ids, Text
from npbert.inference import Classify
from npbert.io import InputError, listed, one_of
from npbert.layers import Softmax
from npbert.models import BertForMultipleChoice
from npbert.training.metrics import METRICS, ClassScores, class_scores, f1
from npbert.training.tasks.table import LABEL, NUMBER, TaskSettings, find_labels, known_label, read_rows
from npbert.training.tasks.task import Answered, Examples, FinetuneTask, Labels, Read, Scores


class OneOfMany(FinetuneTask):
    """`predict` returns C logits for each example. Its target is the index of the right class."""

    metrics: tuple[str, ...] = ("accuracy", "loss")
    goal = "accuracy"
    kind = "labels"

    def answers(self, logits: Any, examples: Examples) -> Iterator[Answered]:
        stacked = np.stack(logits)
        best = stacked.argmax(axis=1).tolist()
        for example, predicted, scores in zip(examples, best, Softmax()(stacked), strict=True):
            text, *names = (example.given, *self.labels) if self.kind == "labels" else example.given
            true, said, probability = names[example.target], names[predicted], float(scores[predicted])
            entries = {"texts": text, "true": true, "predicted": said, "probability": probability}
            yield Answered(example.target, predicted, true != said, probability, entries)


class OneNumber(FinetuneTask):
    """The prediction and the target are numbers."""

    kind = "numbers"

    def decode(self, logits: Array) -> Array:
        """Return the predictions (N,) of logits (N, …)."""
        raise NotImplementedError

    def answers(self, logits: Any, examples: Examples) -> Iterator[Answered]:
        """Yield all answers, as if wrong: the largest errors come first."""
        for example, predicted in zip(examples, self.decode(np.stack(logits)).tolist(), strict=True):
            entries = {"texts": example.given, "true": example.target, "predicted": predicted}
            yield Answered(example.target, predicted, True, abs(predicted - example.target), entries)


class TextClassification(OneOfMany, Classify):
    """A label for a text, or for a pair. (Devlin et al. 2018, section 4.1.)"""

    metrics = ("accuracy", "macro_f1", "matthews", "f1", "loss")
    owns = ("positive", "sample_weight", "class_weight")

    @classmethod
    def read(cls, path: str, settings: TaskSettings, labels: Labels = None) -> Read:
        """Read a file. With known labels it only judges a model, and needs no weights.

        Raises: FileError for a first row that looks like names of columns, or an empty or unknown label; InputError if
        no label is the chosen positive one.
        """
        if labels:
            settings = replace(settings, sample_weight="")
        rows = read_rows(path, settings, known_label(labels) if labels else LABEL)
        known = labels or find_labels([row.target for row in rows], path)
        one_of(("", *known)).check("positive", settings.positive)
        return [row._replace(target=known.index(row.target)) for row in rows], known

    @property
    def positive(self) -> str:
        """Return the label of f1, by default the second of two, or ""."""
        return self.settings.positive or (self.labels[1] if len(self.labels) == 2 else "")

    def collate(self, examples: Examples) -> Batch:
        batch = super().collate(examples)
        batch.sample_weight = np.array([example.weight for example in examples])
        return batch

    def scores(self, predicted: Any, true: Any) -> Scores:
        """Return the metrics; f1 only with a positive label."""
        metrics = {name: METRICS[name](predicted, true) for name in ("accuracy", "macro_f1", "matthews")}
        if self.positive:
            metrics["f1"] = f1(predicted, true, self.labels.index(self.positive))
        return metrics

    def class_scores(self, logits: Any, examples: Examples) -> dict[str, ClassScores]:
        """Return the scores of each label for the results of `predict`."""
        true, predicted, *_ = zip(*self.answers(logits, examples), strict=True)
        scores = class_scores(predicted, true)
        return {self.labels[number]: each for number, each in scores.items()}

    def baselines(self, examples: Examples) -> Scores:
        labels = self.targets(examples)
        counts = np.bincount(labels)
        shares = counts[counts > 0] / len(labels)
        return {**self.scores(np.full_like(labels, counts.argmax()), labels), "loss": float(-shares @ np.log(shares))}


class TextRegression(OneNumber, Classify):
    """A number for a text or a pair, for example the similarity of two sentences. (Devlin et al. 2018, section 4.1.)"""

    metrics = ("pearson", "spearman", "loss")
    goal = "pearson"
    model_options: ClassVar = {"num_labels": 1}

    @classmethod
    def read(cls, path: str, settings: TaskSettings, labels: Labels = None) -> Read:
        return read_rows(path, settings, NUMBER, number=float), None

    def decode(self, logits: Array) -> Array:
        return logits[:, 0].astype(float)

    def loss(self, logits: Any, examples: Examples) -> float:
        return super().loss(self.decode(np.stack(logits)), examples)

    def baselines(self, examples: Examples) -> Scores:
        return {"loss": float(np.var(self.targets(examples)))}


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
        if name not in labels or not NUMBER.allows(number) or float(number) <= 0:
            wanted = f"balanced, or label=weight with a positive weight and one of the labels {listed(labels)}"
            raise InputError("class_weight", pair, wanted)
        weights[labels.index(name)] = float(number)
    return weights


class GroupedTask(FinetuneTask):
    """Base class: the model reads C sequences of an example, each by itself. An encoding is a list of C."""

    def sequences_of(self, given: Any) -> Sequence[Text]:
        """Return the sequences of an example, each a text or a pair."""
        raise NotImplementedError

    def tokenize(self, texts: Iterable[Any], path: str = "") -> list[Any]:
        groups = list(map(self.sequences_of, texts))
        encodings = iter(super().tokenize([text for group in groups for text in group], path))
        return [list(islice(encodings, len(group))) for group in groups]

    def batch(self, encodings: Sequence[list[Ids]]) -> Batch:
        return super().batch([encoding for group in encodings for encoding in group]).grouped(len(encodings[0]))

    def length(self, encoding: list[Ids]) -> int:
        return len(encoding) * max(len(sequence.ids) for sequence in encoding)


class MultipleChoice(GroupedTask, OneOfMany):
    """Predicts the index of the right choice; every row has the same number of choices. (Devlin et al. 2018, section
    4.4.)

    The input is a text and its choices.
    """

    model_class = BertForMultipleChoice
    kind = "choices"

    @classmethod
    def check(cls, settings: TaskSettings) -> None:
        if len(settings.choices) < 2:
            raise InputError("choices", settings.choices, "at least 2 columns")

    @classmethod
    def read(cls, path: str, settings: TaskSettings, labels: Labels = None) -> Read:
        numbers = one_of([str(number) for number in range(len(settings.choices))])
        return read_rows(path, settings, numbers, ("text", "choices"), number=int), None

    def sequences_of(self, given: Any) -> list[Text]:
        text, *choices = given
        return [(text, choice) for choice in choices]
