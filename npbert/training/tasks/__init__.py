"""The paper's tasks by name."""

from npbert.io.errors import InputError, one_of
from npbert.training.tasks.table import Labelled, TaskSettings
from npbert.training.tasks.task import FinetuneTask
from npbert.training.tasks.text import MultipleChoice, TextClassification, TextRegression, class_weights
from npbert.training.tasks.tokens import PartOfSpeech, QuestionAnswering, Tagging
from npbert.training.tasks.vectors import ScoredVectors, SentenceVectors

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
"""Other names of the tasks."""


def task_named(name: str) -> type[FinetuneTask]:
    """Return the task of this name, or of its other name. Raises: InputError for an unknown name."""
    plain = name.lower().replace("_", "-")
    known = ALIASES.get(plain, plain)
    one_of(TASKS)._replace(names=(*TASKS, *ALIASES)).check("task", known)
    return TASKS[known]


def task_class(settings: TaskSettings) -> type[FinetuneTask]:
    """Return the task of the settings. Raises: InputError for an unknown task, or settings that it cannot have."""
    kind = task_named(settings.task)
    if kind is SentenceVectors and settings.label:
        kind = ScoredVectors
    for owner, task in TASKS.items():
        for name in task.owns:
            given = getattr(settings, name, "")  # an evaluation has no class_weight
            if given and name not in kind.owns:
                raise InputError(name, given, f"none, as only the task {owner} has it")
    kind.check(settings)
    return kind


__all__ = [
    "TASKS",
    "ALIASES",
    "task_class",
    "TaskSettings",
    "FinetuneTask",
    "Labelled",
    "task_named",
    "class_weights",
    "TextClassification",
    "TextRegression",
    "MultipleChoice",
    "Tagging",
    "PartOfSpeech",
    "QuestionAnswering",
    "ScoredVectors",
    "SentenceVectors",
]
