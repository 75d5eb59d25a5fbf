"""How good a finished model is at a task."""

from __future__ import annotations

from pathlib import Path

from npbert.data.tokenizer import Tokenizer
from npbert.models import load_config
from npbert.training.tasks import TaskSettings, make_task


def evaluate_checkpoint(folder: str | Path, path: str, settings: TaskSettings) -> dict[str, float]:
    """The task's metrics for the model in `folder` on the labelled file `path`.

    Labels are looked up by their names in the checkpoint's configuration, or where it has none, by their numbers.

    Raises: FileError that names the file, and the line where there is one: also for a label that the model does not
    know, or a checkpoint without the task's head; OSError.
    """
    config = load_config(folder)
    labels = config.id2label or tuple(map(str, range(config.num_labels)))
    task = make_task(settings, Tokenizer.from_pretrained(folder), labels)
    examples = task.read(path)
    model = task.model_class.from_pretrained(folder, new_head=False, **task.config())
    return task.evaluate(model, examples)
