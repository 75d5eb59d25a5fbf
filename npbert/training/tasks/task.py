"""FinetuneTask: a Task for the training and the evaluation of a model."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tables import DELIMITER
from npbert.data.tokenizer import Tokenizer
from npbert.inference import Task, batches_by_length
from npbert.io.errors import InputError, at_least, one_of
from npbert.models import BertConfig
from npbert.models.sentence_vectors import LOSSES, POOLINGS
from npbert.training.metrics import ClassScores
from npbert.training.parallel import ALONE, Communicator
from npbert.training.settings import Settings, setting


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
        (), "for vectors: the prompts before the first text and before the others, such as 'query: ' 'passage: '"
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
        128,
        "read at most this many tokens of an example; 384 is usual for squad",
        value="TOKENS",
        wanted=at_least(8),
    )
    batch_size: int = setting(32, "the number of examples in a batch", wanted=at_least(1))


class Labelled(NamedTuple):
    """A row of a labelled file: the given value, for example a text; the target, the right answer; and its weight in
    the loss."""

    given: Any
    target: Any
    weight: float = 1.0


class JudgedExample(NamedTuple):
    """A row as tokens: the model's input, the given value, the target, and its weight in the loss."""

    encoding: Any
    given: Any
    target: Any
    weight: float = 1.0


class FinetuneTask(Task):
    """A Task that also reads labelled files, makes batches, and measures the answers.

    `rows, labels = read(path, settings)` comes first, as the labels set the size of the model's head; with the model,
    `examples = task.prepare(rows)`. `collate` makes batches from the examples, and `evaluate` gives their metrics.

    communicator: the processes that share the examples of an evaluation; all get the same numbers. Raises: ValueError
    as Task.
    """

    metrics: ClassVar[tuple[str, ...]]
    """The names that `judge` returns; `loss` is the loss of training, without dropout."""
    goal: ClassVar[str]
    """The metric that chooses the better model, unless another is set. A lower loss is better."""
    before: ClassVar[str] = "always the same answer"
    """The name of the answers whose metrics `known_before` returns."""
    has_vectors: ClassVar[bool] = False
    """True for a task that learns vectors of texts."""
    has_positive: ClassVar[bool] = False
    """True if one of the labels may be the positive one."""

    def __init__(
        self,
        model: Any,
        tokenizer: Tokenizer,
        settings: TaskSettings | None = None,
        *,
        communicator: Communicator = ALONE,
    ) -> None:
        self.settings, self.communicator = settings or TaskSettings(), communicator
        super().__init__(model, tokenizer, max_length=settings.max_length if settings else None)

    @classmethod
    def for_settings(cls, settings: TaskSettings) -> type[FinetuneTask]:
        """Return the task of the settings, among those that share a name."""
        return cls

    @classmethod
    def check(cls, settings: TaskSettings) -> None:
        """Raise InputError for settings of other tasks, before any file is read."""
        lacks = (
            {} if cls.has_vectors else dict.fromkeys(("negatives", "prompts", "pooling", "loss"), "the task vectors")
        )
        if not cls.has_positive:
            lacks |= dict.fromkeys(("positive", "sample_weight", "class_weight"), "classification")
        for name, other in lacks.items():
            given = getattr(settings, name, "")  # an evaluation has no class_weight
            if given:
                raise InputError(what=name, got=given, wanted=f"none, as only {other} has it")

    @classmethod
    def read(
        cls, path: str, settings: TaskSettings, labels: Sequence[str] | None = None
    ) -> tuple[list[Any], tuple[str, ...] | None]:
        """Return the rows of a file, and the names of the labels, or None. labels: known labels, as those of an earlier
        file. Raises: FileError with file and line; OSError."""
        raise NotImplementedError(f"{cls.__name__} has no read(path, settings, labels)")

    @classmethod
    def config(cls, labels: Sequence[str] | None) -> dict[str, Any]:
        """Return the entries that the configuration of a model for this task must have."""
        return {} if labels is None else {"num_labels": len(labels), "id2label": tuple(labels)}

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the labels, or their numbers if the model's configuration has no names."""
        return labels_of(self.model.config)

    def prepare(self, rows: Sequence[Any], path: str = "") -> list[JudgedExample]:
        """Return the rows as tokens. path: of the file, for a warning about cut texts."""
        encodings = self.tokenize([row.given for row in rows], path)
        return [JudgedExample(encoding, *row) for encoding, row in zip(encodings, rows, strict=True)]

    def collate(self, examples: Sequence[JudgedExample]) -> Batch:
        """Return a batch of the examples, with their targets."""
        batch = self.batch([example.encoding for example in examples])
        batch.labels = targets_of(examples)
        return batch

    def batch(self, encodings: Sequence[Any]) -> Batch:
        """Return the batch of the encodings that the model reads."""
        return self.tokenizer.batch(encodings)

    def predict(self, examples: Sequence[JudgedExample]) -> Any:
        """Return the logits of each example, for `judge` and `report_row`."""
        encodings, communicator = [example.encoding for example in examples], self.communicator
        if communicator.size == 1:
            return self.logits(encodings)
        found: dict[int, Array] = {}
        for group in self.groups(encodings)[communicator.rank :: communicator.size]:
            found.update(zip(group, self.logits([encodings[number] for number in group]), strict=True))
        everything = ChainMap(*communicator.gather(found))
        return [everything[number] for number in range(len(encodings))]

    def groups(self, encodings: Sequence[Any]) -> list[Sequence[int]]:
        """Return the numbers of the encodings in each batch of `logits`, in its order: another batch may change the
        last bits."""
        return [numbers[::-1] for numbers in batches_by_length([len(encoding.ids) for encoding in encodings])]

    def judge(self, logits: Any, examples: Sequence[JudgedExample]) -> dict[str, float]:
        """Return the metrics of the paper's tables for the results of `predict`."""
        raise NotImplementedError(f"{type(self).__name__} has no judge(logits, examples)")

    def evaluate(self, examples: Sequence[JudgedExample]) -> dict[str, float]:
        """Return the metrics of the model."""
        return self.judge(self.predict(examples), examples)

    def report_row(self, logits: Any, examples: Sequence[JudgedExample]) -> dict[str, object]:
        """Return a row for shown.jsonl from the results of `predict`. (Its entries: report_rows.py.)"""
        return {}

    def baselines(self, examples: Sequence[JudgedExample]) -> dict[str, float]:
        """Return the metrics of a constant answer; none if no answer fits every example."""
        return {}

    def known_before(self, examples: Sequence[JudgedExample]) -> dict[str, float]:
        """Return the metrics a run has to beat: the baselines, or those of the model before training."""
        return self.baselines(examples)

    def class_scores(self, logits: Any, examples: Sequence[JudgedExample]) -> dict[str, ClassScores]:
        """Return the scores of each label for the results of `predict`; none without labels."""
        return {}

    def name_of(self, target: Any) -> str:
        """Return a readable name for a target, for example its label."""
        return str(target)

    def title_of(self, metric: str) -> str:
        """Return the name of a metric in a table."""
        return metric.replace("_", " ")


def targets_of(examples: Sequence[JudgedExample]) -> Array:
    """Return the targets of the examples (N,)."""
    return np.array([example.target for example in examples])


def labels_of(config: BertConfig) -> tuple[str, ...]:
    """Return the names of a model's labels, or their numbers if its configuration has no names."""
    return config.id2label or tuple(map(str, range(config.num_labels)))
