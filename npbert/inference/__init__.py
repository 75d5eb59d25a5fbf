"""What a finished model is for: filling in words, vectors for sentences, labels, answers."""

from npbert.inference.answer import Answer, AnswerSpan
from npbert.inference.classify import Classify, Label
from npbert.inference.embed import POOLINGS, Embed
from npbert.inference.entities import Entity, find_entities
from npbert.inference.fill_mask import FillMask, Prediction
from npbert.inference.search import Hit, semantic_search
from npbert.inference.similarities import SIMILARITIES, similarity
from npbert.inference.spans import Span, best_spans
from npbert.inference.tag import NamedEntity, Tag, TaggedText, TaggedWord, first_tokens
from npbert.inference.task import Task, batches_by_length, check_vocabulary
from npbert.inference.what_it_is import check_holds

__all__ = [
    "Task",
    "batches_by_length",
    "check_vocabulary",
    "FillMask",
    "Prediction",
    "Embed",
    "POOLINGS",
    "similarity",
    "SIMILARITIES",
    "semantic_search",
    "Hit",
    "Classify",
    "Label",
    "Answer",
    "AnswerSpan",
    "Span",
    "best_spans",
    "Tag",
    "TaggedText",
    "TaggedWord",
    "NamedEntity",
    "first_tokens",
    "Entity",
    "find_entities",
    "check_holds",
]
