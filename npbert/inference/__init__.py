"""What a finished model is for: filling in words, vectors for sentences, labels, answers."""

from npbert.inference.answer import Answer, AnswerSpan
from npbert.inference.classify import Classify, Label
from npbert.inference.embed import POOLINGS, Embed
from npbert.inference.fill_mask import FillMask, Prediction
from npbert.inference.spans import Span, best_spans
from npbert.inference.task import Task, batches_by_length, check_vocabulary

__all__ = [
    "Task",
    "batches_by_length",
    "check_vocabulary",
    "FillMask",
    "Prediction",
    "Embed",
    "POOLINGS",
    "Classify",
    "Label",
    "Answer",
    "AnswerSpan",
    "Span",
    "best_spans",
]
