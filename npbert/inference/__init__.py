"""Uses of a trained model: masked words, sentence vectors, labels, tags, answers."""

from npbert.inference.answer import Answer, AnswerSpan
from npbert.inference.classify import (
    ClassCenters,
    Classify,
    Label,
    NamedEntity,
    Tag,
    TaggedText,
    TaggedWord,
    find_entities,
    first_tokens,
)
from npbert.inference.embed import POOLINGS, Embed, Hit, semantic_search, similarity
from npbert.inference.fill_mask import FillMask, Prediction, likely_words, save_dialogue_model
from npbert.inference.task import Task, batches_by_length, check_vocabulary

__all__ = [
    "Task",
    "batches_by_length",
    "check_vocabulary",
    "FillMask",
    "Prediction",
    "Classify",
    "Label",
    "Answer",
    "AnswerSpan",
    "Embed",
    "POOLINGS",
    "ClassCenters",
    "similarity",
    "semantic_search",
    "Hit",
    "Tag",
    "TaggedText",
    "TaggedWord",
    "NamedEntity",
    "first_tokens",
    "find_entities",
    "save_dialogue_model",
    "likely_words",
]
