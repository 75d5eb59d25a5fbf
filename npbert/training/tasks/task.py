"""FinetuneTask: a Task for the training and the evaluation of a model, with its settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.data import Batch, Tokenizer
from npbert.data.task_files import DELIMITER
from npbert.inference import Task
from npbert.io import ALONE, Communicator, Settings, Wanted, at_least, one_of, setting
from npbert.models import LOSSES, POOLINGS
from npbert.training.metrics import METRICS, ClassScores
from npbert.training.tasks.report_rows import Row


@dataclass(frozen=True, kw_only=True)
class TaskSettings(Settings):
    """The form of a file of labelled examples, and its tokens.

    Raises: InputError for an impossible value.
    """

    task: str = setting(
        "classification",
        "classification, regression, multiple-choice, tagging, pos, squad or vectors; other names such as "
        "ner, sts or qa also work",
        value="TASK",
    )
    text: str = setting(
        "0",
        "the column of the text: its number, counted from 0, or its name; if files differ, several names with "
        "commas, such as sentence,content",
        value="COLUMN",
    )
    text_pair: str = setting("", "the column of the second text of a pair (for vectors by default 1)", value="COLUMN")
    negatives: tuple[str, ...] = setting(
        (), "for vectors: the columns of texts that do not match the first", value="COLUMN"
    )
    prompts: tuple[str, ...] = setting(
        (),
        "for vectors: the prompts before the first text and before the others, such as 'query: ' 'passage: '",
        wanted=Wanted("at most 2: for the first text, and for the others", lambda prompts: len(prompts) <= 2),
    )
    pooling: str = setting(
        "",
        "for vectors: how to pool the token vectors (default: the folder's, or mean)",
        value="HOW",
        wanted=one_of(("", *POOLINGS)),
    )
    loss: str = setting(
        "",
        "for vectors: in-batch (all other texts of a batch are wrong answers), both-ways (also from each text to the "
        "first) or triplet; with scores as labels, cosent or cosine",
        value="LOSS",
        wanted=one_of(("", *LOSSES)),
    )
    choices: tuple[str, ...] = setting((), "for multiple choice: the columns of the choices", value="COLUMN")
    label: str = setting(
        "", "the column of the label (default: 1), or for tagging of the tag (default: the last)", value="COLUMN"
    )
    delimiter: str = setting(
        "",
        "the separator of columns: tab (quotes are then part of the text), comma or semicolon (default: comma for "
        ".csv, else tab)",
        wanted=DELIMITER,
    )
    first_row: str = setting(
        "",
        "the first row, if columns are given as numbers: header or example (default: detect it, or stop)",
        value="WHAT",
        wanted=one_of(("", "header", "example")),
    )
    sample_weight: str = setting(
        "",
        "for classification: the column of the examples' weights in the loss (default: 1 each)",
        value="COLUMN",
    )
    positive: str = setting(
        "", "for classification: the label of the f1 score (default: the second of two)", value="LABEL"
    )
    max_length: int = setting(
        0,
        "read at most this many tokens of an example; 384 is usual for squad; 0: in training 128, or the model's limit "
        "if that is smaller, and in an evaluation as in training",
        value="TOKENS",
        wanted=Wanted("0 or at least 8", lambda value: value == 0 or at_least(8).holds(value)),
    )
    batch_size: int = setting(32, "the number of examples in a batch", wanted=at_least(1))


class Labelled(NamedTuple):
    """A row of a labelled file: the given value, for example a text; the target, the right answer; and its weight in
    the loss. An example is a row with its encoding, the model's input."""

    given: Any
    target: Any
    weight: float = 1.0
    encoding: Any = None


Examples = Sequence[Labelled]
Logits = Sequence[Array]
Scores = dict[str, float]
"""The metrics of a model, by name."""
Labels = Sequence[str] | None
"""The names of the labels, for a task that has them."""
Read = tuple[list[Any], Labels]
"""The rows of a file, and its labels."""


class FinetuneTask(Task):
    """A Task that also reads labelled files, makes batches, and measures the answers.

    `rows, labels = read(path, settings)` comes first, as the labels set the size of the model's head; with the model,
    `examples = task.prepare(rows)`. `collate` makes batches from the examples, and `evaluate` gives their metrics. So a
    line of a file becomes a loss: `TableRow` → a row of texts and target → an example with ids (`prepare`) → `Batch`
    (`collate`) → `PackedBatch`, one of its parts → `TaskModel.loss`.

    communicator: the processes that share the examples of an evaluation; all get the same numbers. Raises: InputError
    as Task.
    """

    model: Any
    """A TaskModel."""
    metrics: ClassVar[tuple[str, ...]]
    """The names that `judge` returns; `loss` is the loss of training, without dropout."""
    goal: ClassVar[str]
    """The metric that chooses the better model, unless another is set. A lower loss is better."""
    before: ClassVar[str] = "always the same answer"
    """The name of the answers whose metrics `known_before` returns."""
    owns: ClassVar[tuple[str, ...]] = ()
    """Its settings that other tasks lack."""

    def __init__(
        self,
        model: Any,
        tokenizer: Tokenizer,
        settings: TaskSettings | None = None,
        *,
        communicator: Communicator = ALONE,
    ) -> None:
        self.settings, self.communicator = settings or TaskSettings(), communicator
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

    def loss(self, logits: Array, targets: Array) -> float:
        """Return the loss of training, without dropout."""
        return float(self.model.loss_function(logits, targets))

    def decode(self, logits: Array) -> Array:
        """Return the predictions (N,) of logits (N, …), for the default `judge`."""
        raise NotImplementedError

    def scores(self, predictions: Array, targets: Array) -> Scores:
        """Return the metrics of predictions, (N,) each, without the loss."""
        return {name: METRICS[name](predictions, targets) for name in self.metrics if name != "loss"}

    def judge(self, logits: Any, examples: Examples) -> Scores:
        """Return the metrics of the paper's tables for the results of `predict`; by default from the prediction that
        `decode` returns for each example."""
        stacked, targets = np.stack(logits), self.targets(examples)
        return {**self.scores(self.decode(stacked), targets), "loss": self.loss(stacked, targets)}

    def evaluate(self, examples: Examples) -> Scores:
        """Return the metrics of the model."""
        return self.judge(self.predict(examples), examples)

    def report_row(self, logits: Any, examples: Examples) -> Row:
        """Return a row for shown.jsonl from the results of `predict`. (Its entries: report_rows.py.)"""
        return {}

    def baselines(self, examples: Examples) -> Scores:
        """Return the metrics of a constant answer; none if no answer fits every example."""
        return {}

    def known_before(self, examples: Examples) -> Scores:
        """Return the metrics a run has to beat: the baselines, or those of the model before training."""
        return self.baselines(examples)

    def class_scores(self, logits: Any, examples: Examples) -> dict[str, ClassScores]:
        """Return the scores of each label for the results of `predict`; none without labels."""
        return {}

    def title_of(self, metric: str) -> str:
        """Return the name of a metric in a table."""
        return metric.replace("_", " ")
