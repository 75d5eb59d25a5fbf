"""Fine-tuning: from a pre-trained BERT and a labelled file to a model for a task, and its evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np

from npbert.data import TaskData, warn_of_known
from npbert.io import (
    ALONE,
    POSITIVE,
    Communicator,
    FileError,
    InputError,
    Place,
    Setting,
    Wanted,
    at_least,
    counted,
    listed,
    one_of,
    printable,
    setting,
)
from npbert.models import load_config
from npbert.training.metrics import ClassScores
from npbert.training.settings import TrainerSettings, vocabulary
from npbert.training.tasks import FinetuneTask, TaskSettings, TextClassification, class_weights, task_class
from npbert.training.trainer import Trainer, TrainingRun

_USUAL_LENGTH = 128  # tokens


@dataclass(frozen=True, kw_only=True)
class FinetuneSettings(TaskSettings, TrainerSettings):
    """Settings of fine-tuning, with the paper's defaults. (Devlin et al. 2018, appendix A.3.)

    Raises: ValueError for an impossible value.
    """

    model: str = setting(
        "",
        "the folder of a pre-trained checkpoint, with its tokenizer",
        value="MODEL",
        wanted=Wanted("the folder of a checkpoint", bool),
    )
    train: str = setting("", "the labelled file to train on", value="FILE", wanted=Wanted("a labelled file", bool))
    held_out: str = setting("", "a labelled file to evaluate the model on, without training on it", value="FILE")
    metric: str = setting("", "the metric that chooses the best model (default: the task's)")
    class_weight: tuple[str, ...] = setting(
        (),
        "for classification: the weights of examples by label: balanced, or label=weight for some labels",
        value="WEIGHT",
    )
    new_head: bool = setting(False, "train a new classifier even if the checkpoint has one")
    epochs: float = setting(
        3.0, "the number of passes through the training file, unless steps is given", wanted=POSITIVE
    )
    steps: int = setting(0, "the number of updates; 0: as many as the epochs have", wanted=at_least(0))
    learning_rate: float = setting(3e-5, "the highest learning rate", wanted=POSITIVE)
    seed: int = setting(0, "the seed of all random numbers: the same seed gives the same run", wanted=at_least(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(("", *task_class(self).metrics)).check("metric", self.metric)

    def steps_for(self, data: TaskData) -> int:
        return self.steps or max(1, round(self.epochs * len(data)))


class Finetuning(TrainingRun):
    """A run of fine-tuning in `folder`: `trainer.train()` starts or continues it. communicator: as in Trainer.

    baselines: the metrics of a constant answer on the held-out file, or of the model before training.
    Warns: if rows of the held-out file are also in the training file.

    Raises: FileError with file and line for a bad row, for a file with only one label, and for an unreadable checkpoint
    or vocabulary; ValueError for a metric of another task, or more tokens than the model takes; FileNotFoundError.
    """

    def __init__(self, settings: FinetuneSettings, folder: str | Path, *, communicator: Communicator = ALONE) -> None:
        longest = load_config(settings.model).max_position_embeddings
        settings = replace(settings, max_length=settings.max_length or min(_USUAL_LENGTH, longest))
        rng, kind = np.random.default_rng(settings.seed), task_class(settings)
        metric = settings.metric or kind.goal
        rows, known = kind.read(settings.train, settings)
        self._labels = labels = tuple(known or ())
        if len(labels) == 1:
            says = f"all labels are {labels[0]!r}, wanted at least two classes"
            raise FileError(f"{Place(settings.train)}: {says}")
        if metric == "f1" and kind is TextClassification and len(labels) != 2 and not settings.positive:
            hint = f"{Setting('positive')} names the label of f1"
            raise InputError("metric", "f1", f"another for {len(labels)} labels; {hint}")
        held_out = kind.read(settings.held_out, settings, known)[0] if settings.held_out else []
        places = Place(settings.held_out), Place(settings.train)
        warn_of_known(set(map(repr, held_out)), set(map(repr, rows)), "row", *places)
        if settings.class_weight:
            weights = class_weights(settings.class_weight, [row.target for row in rows], labels)
            rows = [row._replace(weight=row.weight * weights[row.target]) for row in rows]
        of_model: dict[str, Any] = {"rng": rng, "new_head": settings.new_head or None}
        if labels:
            of_model["id2label"] = labels
        self.task = kind.from_pretrained(settings.model, of_model=of_model, settings=settings)
        self.task.communicator = communicator
        self.settings, self.model, self.tokenizer = settings, self.task.model, self.task.tokenizer
        self.data = TaskData(self.task.prepare(rows, settings.train), self.task.collate, settings.batch_size)
        self.held_out = self.task.prepare(held_out, settings.held_out)
        self.baselines = self.task.known_before(self.held_out) if self.held_out else {}
        files = {"training file": settings.train, "held-out file": settings.held_out}
        inputs = {f"{name} {file}": Path(file) for name, file in files.items() if file}
        self.inputs = {**inputs, "vocabulary": vocabulary(self.tokenizer), "labels": repr(known)}
        self.goal, self.cost = metric, len(held_out) / settings.batch_size
        self.trainer = Trainer(
            self.model,
            self.data,
            folder,
            settings,
            rng=rng,
            evaluation=self,
            save_model=partial(self.task.save_pretrained, overwrite=True),
            communicator=communicator,
        )

    def summary(self) -> str:
        """Return a few lines about the run: its files, the first example as tokens, and its length."""
        settings, batch = self.settings, self.task.collate(self.data.examples[:1])
        first = batch.input_ids.reshape(-1, batch.input_ids.shape[-1])[0]  # the first of a choice
        tokens = " ".join(self.tokenizer.decode(first[first != self.tokenizer.pad_id]))
        target = ""
        if batch.labels is not None and batch.labels.ndim == 1:
            label = batch.labels[0]
            target = f"  ->  {self._labels[label] if self._labels else label}"
        lines = [f"{settings.train}: {counted(len(self.data.examples), 'example')}"]
        if self.held_out:
            examples = counted(len(self.held_out), "example")
            lines.append(f"{settings.held_out}: {examples}, for an evaluation {self.when}")
        lines.append(f"the first: {shorten(tokens, 80)}{target}")
        if self._labels:
            lines.append(f"labels: {listed(self._labels, quote=str)}")
        steps = counted(self.trainer.progress.total_steps, "step")
        return "\n".join([*lines, f"{steps} of {counted(settings.batch_size, 'example')}"])

    def evaluate(self) -> dict[str, float]:
        """Return the task's metrics of the model on the held-out file, if any."""
        if not self.held_out:
            return {}
        self._logits = self.task.predict(self.held_out)
        return self.task.judge(self._logits, self.held_out)

    def show(self) -> dict[str, object]:
        """Return a row for a report of the last answers judged, with the goal and its baselines."""
        row = self.task.report_row(self._logits, self.held_out) if self.held_out else {}
        return {**row, "goal": self.goal, "baselines": self.baselines, "before": self.task.before}


class Judged(NamedTuple):
    """The metrics of a model on a file, its task, if it has one, the metrics of a constant answer, and the scores of
    each label, if any. As text it is a table."""

    path: str
    metrics: dict[str, float]
    task: FinetuneTask | None
    baselines: dict[str, float]
    classes: dict[str, ClassScores]

    def __str__(self) -> str:
        titles, positive = {name: name.replace("_", " ") for name in self.metrics}, getattr(self.task, "positive", "")
        if positive and "f1" in titles:
            titles["f1"] = f"f1 (of {positive!r})"
        width = max(24, len(self.path) + 1, *(len(title) + 3 for title in titles.values()))
        before = self.task.before if self.task else "knowing frequencies"
        lines = [f"{self.path:<{width}}{'model':>10}" + f"{before:>24}" * bool(self.baselines)]
        for name, title in titles.items():
            baseline = f"{self.baselines[name]:>24.4f}" if name in self.baselines else ""
            lines.append(f"  {title:<{width - 2}}{self.metrics[name]:>10.4f}{baseline}")
        if self.classes:
            lines.append(f"{'label':<34}{'precision':>10}{'recall':>10}{'f1':>10}{'examples':>12}")
        for label, (precision, recall, f1, support) in self.classes.items():
            shown = shorten(printable(label), 30, placeholder="…")
            lines.append(f"  {shown:<32}{precision:>10.4f}{recall:>10.4f}{f1:>10.4f}{support:>12,}")
        return "\n".join(lines)


def evaluate_files(folder: str | Path, paths: Sequence[str], settings: TaskSettings) -> list[Judged]:
    """Return the task's metrics of the model in `folder` on each of the labelled files.

    Labels are matched by the names in the checkpoint's configuration, or without names by their numbers.

    Raises: FileError with the file and the line, also for a label unknown to the model, or a checkpoint without the
    task's head; OSError.
    """
    task, judged = task_class(settings).from_pretrained(folder, settings=settings), []
    files = {path: task.read(path, settings, task.labels)[0] for path in paths}
    for path, rows in files.items():
        examples = task.prepare(rows, path)
        logits = task.predict(examples)
        classes = task.class_scores(logits, examples) if isinstance(task, TextClassification) else {}
        judged.append(Judged(path, task.judge(logits, examples), task, task.baselines(examples), classes))
    return judged
