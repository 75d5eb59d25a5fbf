"""Fine-tuning: from a pre-trained BERT and a labelled file to a model for a task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from npbert.data.listed import listed
from npbert.data.task_data import TaskData
from npbert.data.tokenizer import SPECIAL, Tokenizer
from npbert.files import FileError
from npbert.inference import check_vocabulary
from npbert.messages import counted
from npbert.models import load_config
from npbert.training.goal import Goal
from npbert.training.parallel import ALONE, Communicator
from npbert.training.plot import example_of
from npbert.training.settings import STEP_IN_FORWARDS, TrainerSettings, evaluation_interval, setting, when_judged
from npbert.training.tasks import FinetuneTask, QuestionAnswering, TaskSettings, TextClassification, make_task
from npbert.training.trainer import Trainer


@dataclass(frozen=True, kw_only=True)
class FinetuneSettings(TaskSettings, TrainerSettings):
    """What to learn from, and how; the defaults are the paper's. (Devlin et al. 2018, appendix A.3.)

    Raises: ValueError for a value that is not possible.
    """

    model: str = setting("", "the folder of a pre-trained checkpoint, with its tokenizer")
    train: str = setting("", "the labelled file to learn from")
    held_out: str = setting("", "a labelled file to judge the model by; it does not learn from it")
    metric: str = setting("", "the number that says which model is the best; each task has its own default")
    new_head: bool = setting(False, "start with a new classifier even if the checkpoint has one")
    epochs: float = setting(3.0, "how often to go through the training file, unless steps is given")
    steps: int = setting(0, "how many updates to make; 0 for as many as the epochs have")
    learning_rate: float = setting(3e-5, "the learning rate where it is highest")
    seed: int = setting(0, "where all random numbers come from: the same seed gives the same run")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("model", "train"):
            if not getattr(self, name):
                what = "the folder of a checkpoint" if name == "model" else "a labelled file"
                raise ValueError(f"{name} is missing, wanted {what}")
        if not 0 < self.epochs < math.inf:
            raise ValueError(f"epochs is {self.epochs}, wanted a positive number")
        self.check("seed", 0)


class Finetuning:
    """A run of fine-tuning in `folder`: `trainer.train()` starts it, or goes on with it. communicator: as in Trainer.

    Raises: FileError that gives file and line for a bad row, or a file in which all labels are the same; ValueError for
    a metric that the task does not have, or more tokens than the model takes; FileNotFoundError; what
    Tokenizer.from_pretrained and from_pretrained raise.
    """

    def __init__(self, settings: FinetuneSettings, folder: str | Path, *, communicator: Communicator = ALONE) -> None:
        for file in filter(None, (settings.train, settings.held_out)):
            Path(file).stat()  # one that is not there is better missed now than when the other has been read
        load_config(settings.model)  # it says what is wrong with the folder
        rng = np.random.default_rng(settings.seed)
        self.settings = settings
        self.tokenizer = Tokenizer.from_pretrained(settings.model)
        self.tokenizer.max_length = settings.max_length
        self.task: FinetuneTask = make_task(settings, self.tokenizer)
        self.task.communicator = communicator
        metric = settings.metric or self.task.goal
        if metric not in self.task.metrics:
            raise ValueError(f"metric is {metric!r}, wanted one of {', '.join(self.task.metrics)}")
        examples = self.task.read(settings.train)
        if self.task.labels is not None and len(self.task.labels) == 1:
            raise FileError(f"{settings.train}: all labels are {self.task.labels[0]!r}, so there is nothing to learn")
        if metric == "f1" and isinstance(self.task, TextClassification) and self.task.positive is None:
            raise ValueError(
                f"metric is 'f1', but there are {len(self.task.labels or ())} labels, and positive is none"
            )
        self.held_out: Sequence[Any] = self.task.read(settings.held_out) if settings.held_out else []
        self.model: Any = self.task.model_class.from_pretrained(
            settings.model, rng=rng, new_head=settings.new_head or None, **self.task.config()
        )
        check_vocabulary(settings.model, self.tokenizer, self.model.config)
        longest = self.model.config.max_position_embeddings
        if settings.max_length > longest:
            raise ValueError(f"max_length is {settings.max_length}, but {settings.model} takes {longest} tokens")
        if isinstance(self.task, QuestionAnswering):
            examples = self.task.windows(self.model, examples)
        self._said: Any = None
        self.data = TaskData(examples, self.task.collate, settings.batch_size)
        steps = settings.steps or max(1, round(settings.epochs * len(self.data)))
        self.cost = len(self.held_out) / settings.batch_size / STEP_IN_FORWARDS
        every = evaluation_interval(settings.evaluate_every, steps, self.cost)
        self.trainer = Trainer(
            self.model,
            self.data,
            folder,
            replace(settings, steps=steps, evaluate_every=every),
            rng=rng,
            evaluate=self.evaluate if self.held_out else None,
            goal=Goal(metric),
            show=self.show if self.held_out else None,
            example=example_of((one.encoding for one in self.held_out if hasattr(one, "encoding")), self.tokenizer),
            save_model=self.save,
            recorded=settings,
            communicator=communicator,
        )

    def summary(self) -> str:
        """What the run learns from, the first example as the model sees it, and how long it is."""
        settings, task = self.trainer.settings, self.task
        batch = task.collate(self.data.examples[:1])
        first = batch.input_ids.reshape(-1, batch.input_ids.shape[-1])[0]  # of a choice, its first
        tokens = [token for token in self.tokenizer.decode(first) if token != SPECIAL["pad_id"]]
        target = "" if batch.labels is None or batch.labels.ndim > 1 else f"  ->  {task.name_of(batch.labels[0])}"
        lines = [f"{self.settings.train}: {counted(len(self.data.examples), 'example')}"]
        if self.held_out:
            when = when_judged(settings, self.cost)
            count = counted(len(self.held_out), "example")
            lines.append(f"{self.settings.held_out}: {count}, to judge the model by {when}")
        lines.append(f"the first: {shorten(' '.join(tokens), 80)}{target}")
        if task.labels:
            lines.append(f"labels: {listed(task.labels, shown=str)}")
        return "\n".join(
            [*lines, f"{counted(settings.steps, 'step')} of {counted(self.settings.batch_size, 'example')}"]
        )

    @property
    def baselines(self) -> dict[str, float]:
        """The metrics of always giving the same answer, on the held-out file."""
        return self.task.baselines(self.held_out) if self.held_out else {}

    def evaluate(self) -> dict[str, float]:
        """The task's metrics for the model on the held-out file."""
        self._said = self.task.predict(self.model, self.held_out)
        return self.task.judge(self._said, self.held_out)

    def show(self) -> dict[str, Any]:
        """What a person would look at of the answers that were judged last, and the baselines to judge them by."""
        shown = self.task.show(self._said, self.held_out)
        return {**shown, "baselines": self.baselines} if shown else {}

    def save(self, folder: Path) -> None:
        """Write the model and its tokenizer."""
        self.tokenizer.save_pretrained(folder)
        self.model.save_pretrained(folder)
