"""The paper's kinds of tasks, by name."""

from collections.abc import Sequence

from npbert.data.tokenizer import Tokenizer
from npbert.training.tasks.choice import MultipleChoice
from npbert.training.tasks.question import QuestionAnswering
from npbert.training.tasks.tagging import Tagging
from npbert.training.tasks.task import FinetuneTask, TaskSettings
from npbert.training.tasks.text import TextClassification, TextRegression

TASKS: dict[str, type[FinetuneTask]] = {
    "classification": TextClassification,
    "regression": TextRegression,
    "multiple-choice": MultipleChoice,
    "tagging": Tagging,
    "squad": QuestionAnswering,
}


def make_task(settings: TaskSettings, tokenizer: Tokenizer, labels: Sequence[str] | None = None) -> FinetuneTask:
    """The task that the settings name. Raises: ValueError when there is none of that name."""
    if settings.task not in TASKS:
        raise ValueError(f"task is {settings.task!r}, wanted one of {', '.join(TASKS)}")
    return TASKS[settings.task](settings, tokenizer, labels)


__all__ = [
    "TASKS",
    "make_task",
    "FinetuneTask",
    "TaskSettings",
    "TextClassification",
    "TextRegression",
    "MultipleChoice",
    "Tagging",
    "QuestionAnswering",
]
