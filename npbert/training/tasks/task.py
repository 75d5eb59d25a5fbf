"""FinetuneTask: what a kind of task must say of itself, so that a model can be trained on it and judged."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from npbert.data.batch import Batch
from npbert.data.tables import Row, read_table
from npbert.data.tokenizer import Encoding, Tokenizer
from npbert.files import FileError
from npbert.models import TaskModel
from npbert.training.parallel import ALONE, Communicator
from npbert.training.settings import Settings, setting
from npbert.training.tasks.header import FIRST_ROWS, without_header
from npbert.training.tasks.labels import find_labels, unknown_label


@dataclass(frozen=True, kw_only=True)
class TaskSettings(Settings):
    """What a file of labelled examples looks like, and how it becomes tokens.

    Raises: ValueError for a value that is not possible.
    """

    task: str = setting(
        "classification",
        "the kind of task: classification, regression, multiple-choice, tagging, pos or squad; usual names such "
        "as ner, sts or qa are understood, too",
    )
    text: str = setting(
        "0",
        "the column of the text: its number, counted from 0, or its name; where files differ, several names "
        "with commas between them, as in sentence,content",
    )
    text_pair: str = setting("", "the column of the second text, where examples are pairs")
    choices: tuple[str, ...] = setting((), "for multiple choice: the columns of the choices")
    label: str = setting(
        "", "the column of the label (by default 1), or for tagging that of the tag (by default the last)"
    )
    delimiter: str = setting(
        "",
        "what separates columns: tab (where quotes are part of the text) or comma; by default comma for .csv, else tab",
    )
    first_row: str = setting(
        "",
        "where columns are numbers: header if the first row names them, example if it is one; by default "
        "npbert stops when it cannot tell",
    )
    positive: str = setting("", "for classification: the label that f1 is about; by default the second of two")
    max_length: int = setting(128, "how many tokens of an example the model reads; 384 is usual for squad")
    batch_size: int = setting(32, "how many examples are in a batch")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check("max_length", 8)
        self.check("batch_size", 1)
        if self.first_row not in FIRST_ROWS:
            raise ValueError(f"first_row is {self.first_row!r}, wanted header or example")


class FinetuneTask:
    """A kind of task: how its files are read, what a batch is made of, and how good a model's answers are.

    labels: the names of the labels, where they are known before any file is read; else those of the first file.
    communicator: the processes that `evaluate` shares out the examples to; all call it, and get the same numbers.
    """

    communicator: Communicator = ALONE

    model_class: ClassVar[type[TaskModel]]
    metrics: ClassVar[tuple[str, ...]]
    """What `evaluate` can give; `loss` is that of training, without dropout."""
    goal: ClassVar[str]
    """The metric by which one model is better than another, unless another is chosen. Of the loss less is better."""

    def __init__(self, settings: TaskSettings, tokenizer: Tokenizer, labels: Sequence[str] | None = None) -> None:
        self.settings, self.tokenizer = settings, tokenizer
        self.labels = None if labels is None else tuple(labels)

    def read(self, path: str) -> list[Any]:
        """The examples of a file. Raises: FileError that gives file and line; OSError."""
        raise NotImplementedError

    def config(self) -> dict[str, Any]:
        """What the configuration of a model for this task must say, once a file has been read."""
        return {} if self.labels is None else {"num_labels": len(self.labels), "id2label": self.labels}

    def collate(self, examples: Sequence[Any]) -> Batch:
        """A batch of the examples, with what is to be learned from them."""
        raise NotImplementedError

    def predict(self, model: Any, examples: Sequence[Any]) -> Any:
        """What the model says of the examples, for `judge` and `show`."""
        raise NotImplementedError

    def judge(self, said: Any, examples: Sequence[Any]) -> dict[str, float]:
        """The metrics of the paper's tables for what `predict` gave."""
        raise NotImplementedError

    def show(self, said: Any, examples: Sequence[Any]) -> dict[str, Any]:
        """What a person would look at of what `predict` gave: a row for shown.jsonl. (shown.py says what is in it.)"""
        return {}

    def evaluate(self, model: Any, examples: Sequence[Any]) -> dict[str, float]:
        """The metrics of a model."""
        return self.judge(self.predict(model, examples), examples)

    def baselines(self, examples: Sequence[Any]) -> dict[str, float]:
        """The metrics of a model that gives every example the same answer; none where that is no answer at all."""
        return {}

    def read_rows(self, path: str, columns: Sequence[tuple[str, str]]) -> list[Row]:
        """The rows of a table. columns: (setting, column) for each value that a row has. Raises: as
        read_table; FileError when first_row is header, and the first row is an example like all others.
        """
        names = [column for _, column in columns]
        rows = read_table(path, names, delimiter=self.settings.delimiter)
        if self.settings.first_row != "header" or not all(map(str.isdigit, names)):
            return rows
        return without_header(rows)

    def may_be_header(self, index: int, columns: Sequence[tuple[str, str]]) -> bool:
        """Whether the row with this number could name the columns, for all that the settings say."""
        return index == 0 and not self.settings.first_row and all(column.isdigit() for _, column in columns)

    def learn_labels(self, names: Sequence[str], path: str) -> None:
        """Take these as the labels, unless they are known. Raises: as find_labels."""
        if self.labels is None:
            self.labels = find_labels(names, path)

    def name_of(self, number: float) -> str:
        """What a person calls the target with this number: the label, or the number itself."""
        return self.labels[int(number)] if self.labels else str(number)

    def number_of(self, label: str, place: str) -> int:
        """The number of a label. Raises: FileError that gives its place when it never occurs in training."""
        labels = self.labels or ()
        if label in labels:
            return labels.index(label)
        raise FileError(f"{place}: {unknown_label(label, labels)}")

    def title_of(self, metric: str) -> str:
        """What a table calls a metric that `evaluate` gives."""
        return metric.replace("_", " ")

    def warn_of_cuts(self, encodings: Sequence[Encoding], path: str) -> None:
        """Say how many texts were too long, if any."""
        cut = sum(bool(encoding.overflowing) for encoding in encodings)
        if cut:
            warnings.warn(
                f"{path}: {cut} of {len(encodings)} texts cut to {self.settings.max_length} tokens", stacklevel=3
            )
