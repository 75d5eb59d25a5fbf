"""The paper's kinds of tasks, by name."""

from npbert.messages import did_you_mean
from npbert.training.tasks.choice import MultipleChoice
from npbert.training.tasks.question import QuestionAnswering
from npbert.training.tasks.tagging import PartOfSpeech, Tagging
from npbert.training.tasks.task import Example, FinetuneTask, Labelled, TaskSettings, labels_of
from npbert.training.tasks.text import TextClassification, TextRegression

TASKS: dict[str, type[FinetuneTask]] = {
    "classification": TextClassification,
    "regression": TextRegression,
    "multiple-choice": MultipleChoice,
    "tagging": Tagging,
    "pos": PartOfSpeech,
    "squad": QuestionAnswering,
}

_USUAL = {
    "classification": "text-classification sequence-classification sentiment nli",
    "regression": "sts similarity",
    "multiple-choice": "swag",
    "tagging": "ner token-classification",
    "pos": "part-of-speech",
    "squad": "qa question-answering",
}
ALIASES = {alias: name for name, aliases in _USUAL.items() for alias in aliases.split()}
"""Other names that people have for the tasks."""


def task_class(settings: TaskSettings) -> type[FinetuneTask]:
    """The task that the settings name. Raises: ValueError when there is none of that name, or it has no positive."""
    name = settings.task.lower().replace("_", "-")
    kind = TASKS.get(ALIASES.get(name, name))
    if kind is None:
        meant = did_you_mean(name, [*TASKS, *ALIASES])
        raise ValueError(f"task is {settings.task!r}, wanted one of {', '.join(TASKS)}{meant}")
    if settings.positive and kind is not TextClassification:
        raise ValueError(f"positive is {settings.positive!r}, but only a classification has a positive label")
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
    "TextClassification",
    "TextRegression",
    "MultipleChoice",
    "Tagging",
    "PartOfSpeech",
    "QuestionAnswering",
]
