"""FinetuneTask: a Task for the training and the evaluation of a model, and the rows of a report of its mistakes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.data import Batch, Tokenizer
from npbert.inference import Task
from npbert.io.messages import shortened
from npbert.training.metrics import METRICS
from npbert.training.tasks.table import Labelled, TaskSettings

MOST, _LONGEST, _LONGEST_LABEL, _LABELS, _WORDS, _POINTS = 30, 400, 60, 25, 80, 400
OUTSIDE = "O"
_OTHERS = "(others)"


Examples = Sequence[Labelled]
Scores = dict[str, float]
"""The metrics of a model, by name."""
Labels = Sequence[str] | None
"""The names of the labels, for a task that has them."""
Read = tuple[list[Any], Labels]
"""The rows of a file, and its labels."""
Row = dict[str, Any]
"""A row of shown.jsonl, for a report of a model's mistakes and confused labels.

`kind` is the kind of the task, `examples` the number of examples, `wrong` the number of mistakes, and `worst` the
mistakes with the highest confidence, at most `MOST`. The run adds `goal`, the metric that chooses the model;
`baselines`, their metrics by name; `before`, what they are; and `best_step`, the step of the model in model/."""


class Answered(NamedTuple):
    """A model's answer: the right one and the predicted one, as the metrics read them; whether it is wrong, how sure
    the model is, and the entries to show in a report by name, with `true` and `predicted`."""

    true: Any
    predicted: Any
    is_wrong: bool
    sureness: float
    entries: Row


class FinetuneTask(Task):
    """A Task that also reads labelled files, makes batches, and measures the answers.

    `rows, labels = read(path, settings)` comes first, as the labels set the size of the model's head; with the model,
    `examples = task.prepare(rows)`. `collate` makes batches from the examples, and `evaluate` gives their metrics. So a
    line of a file becomes a loss: `Labelled`, a row of texts and target → an example with ids (`prepare`) → `Batch`
    (`collate`) → `PackedBatch`, one of its parts → `TaskModel.loss`.

    Its `communicator` shares the examples of an evaluation; all processes get the same numbers. Raises: InputError as
    Task.
    """

    model: Any
    """A TaskModel."""
    metrics: tuple[str, ...]
    """The names that `judge` returns; `loss` is the loss of training, without dropout."""
    goal: str
    """The metric that chooses the better model, unless another is set. A lower loss is better."""
    before = "always the same answer"
    """The name of the answers whose metrics `known_before` returns."""
    kind = ""
    """The kind of its rows in a report, if it shows answers."""
    owns: tuple[str, ...] = ()
    """Its settings that other tasks lack."""

    def __init__(self, model: Any, tokenizer: Tokenizer, settings: TaskSettings | None = None) -> None:
        self.settings = settings or TaskSettings()
        super().__init__(model, tokenizer, max_length=self.settings.max_length or None)

    @classmethod
    def check(cls, settings: TaskSettings) -> None:
        """Raise InputError for settings that the task cannot have, before any file is read."""

    @classmethod
    def read(cls, path: str, settings: TaskSettings, labels: Labels = None) -> Read:
        """Return the rows of a file, and the names of the labels, or None. labels: known labels, as those of an earlier
        file. Raises: FileError with file and line; OSError."""
        raise NotImplementedError

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the labels, or their numbers if the model's configuration has no names."""
        config = self.model.config
        return config.id2label or tuple(map(str, range(config.num_labels)))

    def prepare(self, rows: Sequence[Any], path: str = "") -> list[Labelled]:
        """Return the rows with their tokens. path: of the file, for a warning about cut texts."""
        encodings = self.tokenize([row.given for row in rows], path)
        return [row._replace(encoding=encoding) for row, encoding in zip(rows, encodings, strict=True)]

    def collate(self, examples: Examples) -> Batch:
        """Return a batch of the examples, with their targets."""
        batch = self.batch([example.encoding for example in examples])
        batch.labels = self.targets(examples)
        return batch

    def targets(self, examples: Examples) -> Array:
        """Return the targets of the examples, as labels of a batch."""
        return np.array([example.target for example in examples])

    def predict(self, examples: Examples) -> Any:
        """Return the logits of each example, for `judge` and `report_row`."""
        return self.logits([example.encoding for example in examples])

    def answers(self, logits: Any, examples: Examples) -> Iterable[Answered]:
        """Yield the answers from the results of `predict`, for `judge` and `report_row`; by default none."""
        return ()

    def scores(self, predicted: Any, true: Any) -> Scores:
        """Return the metrics of predicted and right answers, without the loss."""
        return {name: METRICS[name](predicted, true) for name in self.metrics if name != "loss"}

    def loss(self, logits: Any, examples: Examples) -> float:
        """Return the loss of training, without dropout."""
        return float(self.model.loss_function(np.stack(logits), self.targets(examples)))

    def judge(self, logits: Any, examples: Examples) -> Scores:
        """Return the metrics of the paper's tables for the results of `predict`."""
        true, predicted, *_ = zip(*self.answers(logits, examples), strict=True)
        return {**self.scores(predicted, true), "loss": self.loss(logits, examples)}

    def evaluate(self, examples: Examples) -> Scores:
        """Return the metrics of the model."""
        return self.judge(self.predict(examples), examples)

    def report_row(self, logits: Any, examples: Examples) -> Row:
        """Return a row for shown.jsonl from the results of `predict`. (Its entries: `Row`.)"""
        answers = list(self.answers(logits, examples))
        wrong = sorted((answer for answer in answers if answer.is_wrong), key=lambda answer: -answer.sureness)
        worst = [{name: in_brief(value) for name, value in answer.entries.items()} for answer in wrong[:MOST]]
        row = {"kind": self.kind, "examples": len(answers), "wrong": len(wrong), "worst": worst}
        pairs = [(answer.entries["true"], answer.entries["predicted"]) for answer in answers]
        if self.kind == "tags":
            pairs = [pair for sentence in pairs for pair in zip(*sentence, strict=True)]
        if self.kind == "numbers":
            row["pairs"] = pairs[:: -(-len(pairs) // _POINTS)]
        elif self.kind in ("labels", "tags"):
            row |= confusion(pairs, [*self.labels, OUTSIDE])
        return row

    def baselines(self, examples: Examples) -> Scores:
        """Return the metrics of a constant answer; none if no answer fits every example."""
        return {}

    def known_before(self, examples: Examples) -> Scores:
        """Return the metrics a run has to beat: the baselines, or those of the model before training."""
        return self.baselines(examples)


def in_brief(value: Any) -> Any:
    """Return long texts without their middle, and the first words of long sentences."""
    if isinstance(value, str):
        return shortened(value, _LONGEST)
    return list(map(in_brief, value[:_WORDS])) if isinstance(value, list | tuple) else value


def confusion(pairs: Sequence[tuple[str, str]], labels: Sequence[str]) -> Row:
    """Return `labels`, and `counts`: the examples with the label of the row that were predicted as the label of the
    column.

    Unused labels are left out. The commonest 25 are kept, and all others become "(others)".

    pairs: the right and the predicted label of each example, both some of the labels
    """
    often = Counter(chain(*pairs))
    names = sorted(dict(often.most_common(_LABELS)), key=labels.index)
    if len(often) > len(names):
        names.append(_OTHERS)
    counts = Counter(tuple(name if name in names else _OTHERS for name in pair) for pair in pairs)
    rows = [[counts[true, predicted] for predicted in names] for true in names]
    return {"labels": [shortened(name, _LONGEST_LABEL) for name in names], "counts": rows}
