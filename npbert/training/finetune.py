"""Fine-tuning: from a pre-trained BERT and a labelled file to a model for a task, and how good a finished one is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np

from npbert.data.corpus import warn_of_known
from npbert.data.task_data import TaskData
from npbert.data.tokenizer import SPECIAL, Tokenizer
from npbert.inference import check_holds, check_vocabulary
from npbert.io.errors import POSITIVE, InputError, InputWarning, Place, Setting, Wanted, at_least, one_of
from npbert.io.files import FileError
from npbert.io.messages import counted, listed, warn
from npbert.models import load_config
from npbert.training.evaluation import Evaluation, Goal
from npbert.training.metrics import ClassScores
from npbert.training.parallel import ALONE, Communicator
from npbert.training.plot import example_of
from npbert.training.reads import vocabulary
from npbert.training.settings import STEP_IN_FORWARDS, TrainerSettings, setting, when_judged
from npbert.training.tasks import FinetuneTask, TaskSettings, TextClassification, class_weights, labels_of, task_class
from npbert.training.trainer import ShownRun, Trainer


@dataclass(frozen=True, kw_only=True)
class FinetuneSettings(TaskSettings, TrainerSettings):
    """Settings of fine-tuning; the defaults are the paper's. (Devlin et al. 2018, appendix A.3.)

    Raises: ValueError for a value that is not possible.
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
        3.0, "the number of passes through the training file, unless steps is given", value="N", wanted=POSITIVE
    )
    steps: int = setting(0, "the number of updates; 0: as many as the epochs have", wanted=at_least(0))
    learning_rate: float = setting(3e-5, "the highest learning rate", value="RATE", wanted=POSITIVE)
    seed: int = setting(0, "the seed of all random numbers: the same seed gives the same run", wanted=at_least(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = task_class(self)
        one_of(("", *kind.metrics)).check("metric", self.metric)

    def steps_for(self, data: TaskData) -> int:
        return self.steps or max(1, round(self.epochs * len(data)))


def _fitting(settings: FinetuneSettings) -> FinetuneSettings:
    """The settings, with the most tokens that the model takes where that is less than the default of max_length.

    Warns: then. Raises: FileError that says what is wrong with the model's folder.
    """
    longest = load_config(settings.model).max_position_embeddings
    if longest >= settings.max_length or settings.max_length != type(settings).max_length:
        return settings
    warn(InputWarning((Setting("max_length"), f" is {longest}, the most tokens that the model takes")))
    return replace(settings, max_length=longest)


class Finetuning(ShownRun):
    """A run of fine-tuning in `folder`: `trainer.train()` starts it, or goes on with it. communicator: as in Trainer.

    baselines: the metrics of knowing next to nothing on the held-out file, or of the model before it learns.
    Warns: when rows of the held-out file are in the training file, too.

    Raises: FileError that gives file and line for a bad row, or a file in which all labels are the same; ValueError for
    a metric that the task does not have, or more tokens than the model takes; FileNotFoundError; FileError for a
    checkpoint or a vocabulary that cannot be read.
    """

    def __init__(self, settings: FinetuneSettings, folder: str | Path, *, communicator: Communicator = ALONE) -> None:
        for file in filter(None, (settings.train, settings.held_out)):
            Path(file).stat()  # one that is not there is better missed now than when the other has been read
        settings = _fitting(settings)
        rng = np.random.default_rng(settings.seed)
        self.settings, kind = settings, task_class(settings)
        self.tokenizer = Tokenizer.from_pretrained(settings.model)
        metric = settings.metric or kind.goal
        rows, labels = kind.read(settings.train, settings)
        if labels is not None and len(labels) == 1:
            says = f"all labels are {labels[0]!r}, wanted at least two different ones"
            raise FileError(says, where=Place(settings.train))
        if metric == "f1" and kind is TextClassification and len(labels or ()) != 2 and not settings.positive:
            wanted, hint = f"another for {len(labels or ())} labels", (Setting("positive"), " names the label of f1")
            raise InputError(what="metric", got="f1", wanted=wanted, hint=hint)
        held_out_rows = kind.read(settings.held_out, settings, labels)[0] if settings.held_out else []
        judged_by, learned = ({hash(repr(row)) for row in each} for each in (held_out_rows, rows))
        warn_of_known(judged_by, learned, "row", Place(settings.held_out), Place(settings.train))
        if settings.class_weight:
            weights = class_weights(settings.class_weight, [row.target for row in rows], labels or ())
            rows = [row._replace(weight=row.weight * weights[row.target]) for row in rows]
        model_class: Any = kind.model_class  # a task of your own has a model of your own
        self.model = model_class.from_pretrained(
            settings.model,
            rng=rng,
            new_head=settings.new_head or None,
            **{**kind.config(labels), **kind.model_options(settings.model, {"settings": settings})},
        )
        check_vocabulary(settings.model, self.tokenizer, self.model.config)
        self.task: FinetuneTask = kind(self.model, self.tokenizer, settings, communicator=communicator)
        self.data = TaskData(self.task.prepare(rows, settings.train), self.task.collate, settings.batch_size)
        self.held_out = self.task.prepare(held_out_rows, settings.held_out)
        self.tokenizer.max_length = settings.max_length  # it is saved with the model
        self.baselines = self.task.known_before(self.held_out) if self.held_out else {}
        self._logits: Any = None
        self._labels, self._num_held_out = labels, len(held_out_rows)
        self.trainer = Trainer(
            self.model,
            self.data,
            folder,
            settings,
            rng=rng,
            evaluation=Evaluation(
                self.evaluate if self.held_out else None,
                Goal(metric),
                show=self.show if self.held_out else None,
                example=example_of([example.encoding for example in self.held_out], self.tokenizer),
                cost=self._num_held_out / settings.batch_size / STEP_IN_FORWARDS,
                reads=self._reads(),
            ),
            save_model=self.save,
            communicator=communicator,
        )

    def _reads(self) -> dict[str, Path | str]:
        """By name what the run reads, as in Evaluation."""
        files = {f"training file {self.settings.train}": Path(self.settings.train)}
        if self.settings.held_out:
            files[f"held-out file {self.settings.held_out}"] = Path(self.settings.held_out)
        return {**files, "vocabulary": vocabulary(self.tokenizer), "labels": repr(self._labels)}

    def summary(self) -> str:
        """A few lines about the run: its files, the first example as the model sees it, and how long it will be."""
        settings, task = self.trainer.settings, self.task
        batch = task.collate(self.data.examples[:1])
        first = batch.input_ids.reshape(-1, batch.input_ids.shape[-1])[0]  # of a choice, its first
        tokens = [token for token in self.tokenizer.decode(first) if token != SPECIAL["pad_id"]]
        target = "" if batch.labels is None or batch.labels.ndim > 1 else f"  ->  {task.name_of(batch.labels[0])}"
        lines = [f"{self.settings.train}: {counted(len(self.data.examples), 'example')}"]
        if self.held_out:
            count = counted(self._num_held_out, "example")
            when = when_judged(settings, self.trainer.evaluation.cost)
            lines.append(f"{self.settings.held_out}: {count}, to evaluate the model on {when}")
        lines.append(f"the first: {shorten(' '.join(tokens), 80)}{target}")
        if self._labels:
            lines.append(f"labels: {listed(self._labels, quote=str)}")
        lines.append(f"{counted(settings.steps, 'step')} of {counted(self.settings.batch_size, 'example')}")
        return "\n".join(lines)

    def save(self, folder: Path) -> None:
        self.task.save_pretrained(folder, overwrite=True)

    def evaluate(self) -> dict[str, float]:
        """The task's metrics for the model on the held-out file."""
        self._logits = self.task.predict(self.held_out)
        return self.task.judge(self._logits, self.held_out)

    def show(self) -> dict[str, object]:
        """A row for a report of the answers that were judged last, with the baselines to judge them by."""
        row = self.task.report_row(self._logits, self.held_out)
        return {**row, "baselines": self.baselines} if row else {}


class Judged(NamedTuple):
    """The task's metrics for one file, the task, which says what they are called, the metrics of always giving the same
    answer, and the scores of each label, if there are labels."""

    path: str
    metrics: dict[str, float]
    task: FinetuneTask
    baselines: dict[str, float]
    classes: dict[str, ClassScores]


def evaluate_checkpoint(folder: str | Path, path: str, settings: TaskSettings) -> dict[str, float]:
    """The task's metrics for the model in `folder` on the labelled file `path`.

    Labels are looked up by their names in the checkpoint's configuration, or where it has none, by their numbers.

    Raises: FileError that names the file, and the line where there is one: also for a label that the model does not
    know, or a checkpoint without the task's head; OSError.
    """
    (judged,) = evaluate_files(folder, [path], settings)
    return judged.metrics


def evaluate_files(folder: str | Path, paths: Sequence[str], settings: TaskSettings) -> list[Judged]:
    """As evaluate_checkpoint, for several files; all of them are read before the model is."""
    kind, labels = task_class(settings), labels_of(load_config(folder))
    check_holds(folder, kind.model_class.__name__)
    for path in paths:
        Path(path).stat()
    files = [(path, kind.read(path, settings, labels)[0]) for path in paths]
    task = kind.from_pretrained(folder, settings=settings)
    judged = []
    for path, rows in files:
        examples = task.prepare(rows, path)
        logits = task.predict(examples)
        metrics, classes = task.judge(logits, examples), task.class_scores(logits, examples)
        judged.append(Judged(path, metrics, task, task.baselines(examples), classes))
    return judged
