"""The paper's kinds of tasks, by name."""

from npbert.training.tasks.choice import MultipleChoice
from npbert.training.tasks.question import QuestionAnswering
from npbert.training.tasks.tagging import PartOfSpeech, Tagging
from npbert.training.tasks.task import ALIASES, Example, FinetuneTask, Labelled, TaskSettings, labels_of, task_named
from npbert.training.tasks.text import TextClassification, TextRegression

TASKS: dict[str, type[FinetuneTask]] = {
    "classification": TextClassification,
    "regression": TextRegression,
    "multiple-choice": MultipleChoice,
    "tagging": Tagging,
    "pos": PartOfSpeech,
    "squad": QuestionAnswering,
}


def task_class(settings: TaskSettings) -> type[FinetuneTask]:
    """The task that the settings name. Raises: InputError for settings that the task cannot have."""
    kind = TASKS[task_named(settings.task)]
    kind.check(settings)
    return kind


__all__ = [
    "TASKS",
    "ALIASES",
    "task_class",
    "TaskSettings",
    "FinetuneTask",
    "Labelled",
    "Example",
    "labels_of",
    "task_named",
    "TextClassification",
    "TextRegression",
    "MultipleChoice",
    "Tagging",
    "PartOfSpeech",
    "QuestionAnswering",
]
