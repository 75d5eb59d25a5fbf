"""FinetuneTask: what a kind of task must say of itself, so that a model can be trained on it and judged."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from npbert.data.batch import Batch
from npbert.data.tokenizer import Encoding, Tokenizer
from npbert.files import FileError
from npbert.models import TaskModel
from npbert.training.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class TaskSettings(Settings):
    """What a file of labelled examples looks like, and how it becomes tokens.

    Raises: ValueError for a value that is not possible.
    """

    task: str = setting("classification", "classification, regression, multiple-choice, tagging or squad")
    text: str = setting("0", "the column of the text, a number from 0 or a name")
    text_pair: str = setting("", "the column of the second text of a pair, if there is one")
    choices: tuple[str, ...] = setting((), "for multiple choice: the columns of the choices")
    label: str = setting("", "the column of the label, by default 1; for tagging that of the tag, by default the last")
    delimiter: str = setting("", "tab (quotes are text) or comma; by default comma for .csv, else tab")
    max_length: int = setting(128, "tokens in a sequence, at most; 384 is usual for squad")
    batch_size: int = setting(32, "examples in a batch")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check("max_length", 8)
        self.check("batch_size", 1)


class FinetuneTask:
    """A kind of task: how its files are read, what a batch is made of, and how good a model's answers are.

    labels: the names of the labels, where they are known before any file is read; else those of the first file.
    """

    model_class: ClassVar[type[TaskModel]]
    metrics: ClassVar[tuple[str, ...]]
    """What `evaluate` can give."""
    goal: ClassVar[str]
    """The metric by which one model is better than another, unless another is chosen; more is better."""

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

    def evaluate(self, model: Any, examples: Sequence[Any]) -> dict[str, float]:
        """The metrics of the paper's tables for the model's answers."""
        raise NotImplementedError

    def learn_labels(self, names: Sequence[str]) -> None:
        """Take these as the labels, unless they are known: each once, numbers in the order of their size."""
        if self.labels is None:
            numeric = all(re.fullmatch(r"-?[0-9]+", name) for name in names)
            self.labels = tuple(sorted(set(names), key=int if numeric else None))

    def name_of(self, number: float) -> str:
        """What a person calls the target with this number: the label, or the number itself."""
        return self.labels[int(number)] if self.labels else str(number)

    def number_of(self, label: str, place: str) -> int:
        """The number of a label. Raises: FileError that gives its place when it never occurs in training."""
        labels = self.labels or ()
        if label in labels:
            return labels.index(label)
        raise FileError(f"{place}: the label {label!r} is none of those in training: {', '.join(map(repr, labels))}")

    def warn_of_cuts(self, encodings: Sequence[Encoding], path: str) -> None:
        """Say how many texts were too long, if any."""
        cut = sum(bool(encoding.overflowing) for encoding in encodings)
        if cut:
            warnings.warn(
                f"{path}: {cut} of {len(encodings)} texts cut to {self.settings.max_length} tokens", stacklevel=3
            )
