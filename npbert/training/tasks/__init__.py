"""The paper's kinds of tasks, by name."""

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

__all__ = [
    "TASKS",
    "FinetuneTask",
    "TaskSettings",
    "TextClassification",
    "TextRegression",
    "MultipleChoice",
    "Tagging",
    "QuestionAnswering",
]
