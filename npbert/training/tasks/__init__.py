"""The paper's kinds of tasks, by name."""

from npbert.io.errors import one_of
from npbert.training.tasks.choice import MultipleChoice
from npbert.training.tasks.classes import class_weights
from npbert.training.tasks.question import QuestionAnswering
from npbert.training.tasks.tagging import PartOfSpeech, Tagging
from npbert.training.tasks.task import FinetuneTask, JudgedExample, Labelled, TaskSettings, labels_of
from npbert.training.tasks.text import TextClassification, TextRegression, TextTask
from npbert.training.tasks.vectors import SentenceVectors

TASKS: dict[str, type[FinetuneTask]] = {
    "classification": TextClassification,
    "regression": TextRegression,
    "multiple-choice": MultipleChoice,
    "tagging": Tagging,
    "pos": PartOfSpeech,
    "squad": QuestionAnswering,
    "vectors": SentenceVectors,
}

_USUAL = {
    "classification": "text-classification sequence-classification sentiment nli",
    "regression": "sts similarity",
    "multiple-choice": "swag",
    "tagging": "ner token-classification",
    "pos": "part-of-speech",
    "squad": "qa question-answering",
    "vectors": "embeddings sentence-embeddings retrieval",
}
ALIASES = {alias: name for name, aliases in _USUAL.items() for alias in aliases.split()}
"""Other names that people have for the tasks."""


def task_named(name: str) -> type[FinetuneTask]:
    """The task of this name, or of another that people have for it. Raises: InputError when there is none."""
    plain = name.lower().replace("_", "-")
    one_of(TASKS)._replace(names=(*TASKS, *ALIASES)).check("task", ALIASES.get(plain, plain))
    return TASKS[ALIASES.get(plain, plain)]


def task_class(settings: TaskSettings) -> type[FinetuneTask]:
    """The task that the settings name. Raises: InputError when there is none, or for settings that it cannot have."""
    kind = task_named(settings.task).for_settings(settings)
    kind.check(settings)
    return kind


__all__ = [
    "TASKS",
    "ALIASES",
    "task_class",
    "TaskSettings",
    "FinetuneTask",
    "Labelled",
    "JudgedExample",
    "labels_of",
    "task_named",
    "class_weights",
    "TextTask",
    "TextClassification",
    "TextRegression",
    "MultipleChoice",
    "Tagging",
    "PartOfSpeech",
    "QuestionAnswering",
    "SentenceVectors",
]
