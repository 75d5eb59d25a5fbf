"""The paper's kinds of tasks, by name."""

from collections.abc import Sequence

from npbert.data.tokenizer import Tokenizer
from npbert.suggest import did_you_mean
from npbert.training.tasks.choice import MultipleChoice
from npbert.training.tasks.question import QuestionAnswering
from npbert.training.tasks.tagging import PartOfSpeech, Tagging
from npbert.training.tasks.task import FinetuneTask, TaskSettings
from npbert.training.tasks.text import TextClassification, TextRegression

TASKS: dict[str, type[FinetuneTask]] = {
    "classification": TextClassification,
    "regression": TextRegression,
    "multiple-choice": MultipleChoice,
    "tagging": Tagging,
    "pos": PartOfSpeech,
    "squad": QuestionAnswering,
}

ALIASES = {
    "text-classification": "classification",
    "sequence-classification": "classification",
    "sentiment": "classification",
    "nli": "classification",
    "sts": "regression",
    "similarity": "regression",
    "swag": "multiple-choice",
    "ner": "tagging",
    "token-classification": "tagging",
    "part-of-speech": "pos",
    "qa": "squad",
    "question-answering": "squad",
}
"""What else people call the tasks."""


def make_task(settings: TaskSettings, tokenizer: Tokenizer, labels: Sequence[str] | None = None) -> FinetuneTask:
    """The task that the settings name. Raises: ValueError when there is none of that name, or it has no positive."""
    name = settings.task.lower().replace("_", "-")
    kind = TASKS.get(ALIASES.get(name, name))
    if kind is None:
        meant = did_you_mean(name, [*TASKS, *ALIASES])
        raise ValueError(f"task is {settings.task!r}, wanted one of {', '.join(TASKS)}{meant}")
    if settings.positive and kind is not TextClassification:
        raise ValueError(f"positive is {settings.positive!r}, but only a classification has a positive label")
    return kind(settings, tokenizer, labels)


__all__ = [
    "TASKS",
    "ALIASES",
    "make_task",
    "FinetuneTask",
    "TaskSettings",
    "TextClassification",
    "TextRegression",
    "MultipleChoice",
    "Tagging",
    "PartOfSpeech",
    "QuestionAnswering",
]
