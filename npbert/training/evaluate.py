"""How good a finished model is at a task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from npbert.data.tokenizer import Tokenizer
from npbert.inference import check_holds
from npbert.models import load_config
from npbert.training.tasks import FinetuneTask, TaskSettings, make_task


class Judged(NamedTuple):
    """The task's metrics for one file, the task, which says what they are called, and the metrics of always giving the
    same answer."""

    path: str
    metrics: dict[str, float]
    task: FinetuneTask
    baselines: dict[str, float]


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
    config = load_config(folder)
    labels = config.id2label or tuple(map(str, range(config.num_labels)))
    task = make_task(settings, Tokenizer.from_pretrained(folder), labels)
    check_holds(folder, task.model_class.__name__)
    for path in paths:
        Path(path).stat()
    files: list[tuple[str, list[Any]]] = [(path, task.read(path)) for path in paths]
    model = task.model_class.from_pretrained(folder, new_head=False, **task.config())
    return [Judged(path, task.evaluate(model, examples), task, task.baselines(examples)) for path, examples in files]
