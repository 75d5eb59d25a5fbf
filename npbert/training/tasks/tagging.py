"""Tagging: a tag for every word, as in named-entity recognition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.core import IGNORED
from npbert.data.batch import Batch
from npbert.data.conll import TaggedSentence, read_conll
from npbert.data.padding import pad_rows
from npbert.data.tokenizer import Encoding
from npbert.files import FileError
from npbert.inference import Task
from npbert.models import BertForTokenClassification
from npbert.training.metrics import accuracy, entity_scores, find_entities
from npbert.training.tasks.task import FinetuneTask

OUTSIDE = "O"


class TaggedTokens(NamedTuple):
    """A sentence as tokens, and the numbers of its words' tags."""

    encoding: Encoding
    tags: list[int]


class Tagging(FinetuneTask):
    """The first token of each word carries its tag; entities are judged as a whole. (Devlin et al. 2018, section 5.3.)

    Words that a sentence loses to max_length count as predicted to be outside.
    """

    model_class = BertForTokenClassification
    metrics = ("precision", "recall", "f1", "accuracy")
    goal = "f1"

    def read(self, path: str) -> list[TaggedTokens]:
        word_column, tag_column = _column("text", self.settings.text), _column("label", self.settings.label or "-1")
        sentences = read_conll(path, word_column=word_column, tag_column=tag_column)
        _check_tags(sentences)
        self.learn_labels([OUTSIDE, *(tag for sentence in sentences for tag in sentence.tags)])
        encodings = self.tokenizer.encode_words(
            [sentence.words for sentence in sentences], max_length=self.settings.max_length
        )
        self.warn_of_cuts(encodings, path)
        return [
            TaggedTokens(encoding, [self.number_of(tag, f"{place} on") for tag in tags])
            for encoding, (_, tags, place) in zip(encodings, sentences, strict=True)
        ]

    def collate(self, examples: Sequence[TaggedTokens]) -> Batch:
        batch = self.tokenizer.batch([example.encoding for example in examples])
        rows = [
            [example.tags[word] if is_first else IGNORED for word, is_first in _words(example.encoding)]
            for example in examples
        ]
        batch.labels = pad_rows(rows, IGNORED)
        return batch

    def evaluate(self, model: Any, examples: Sequence[TaggedTokens]) -> dict[str, float]:
        logits = Task(model, self.tokenizer).run(
            [example.encoding for example in examples], lambda batch, _: model(batch)
        )
        labels = self.labels or ()
        predicted, gold = [], []
        for example, row in zip(examples, logits, strict=True):
            tags = [OUTSIDE] * len(example.tags)
            for (word, is_first), scores in zip(_words(example.encoding), row, strict=False):
                if is_first:
                    tags[word] = labels[int(scores.argmax())]
            predicted.append(tags)
            gold.append([labels[tag] for tag in example.tags])
        numbers = {tag: number for number, tag in enumerate((*labels, OUTSIDE))}  # a model may not know OUTSIDE
        flat = [np.array([numbers[tag] for tags in sentences for tag in tags]) for sentences in (predicted, gold)]
        return {**entity_scores(predicted, gold)._asdict(), "accuracy": accuracy(*flat)}


def _check_tags(sentences: Sequence[TaggedSentence]) -> None:
    """Raise FileError for a tag that find_entities does not know: here, and not when a trained model is judged."""
    for _, tags, place in sentences:
        try:
            find_entities(tags)
        except ValueError as error:
            raise FileError(f"{place} on: {error}") from error


def _column(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError as error:
        raise ValueError(f"{name} is {value!r}, wanted a number: columns of words and tags have no names") from error


def _words(encoding: Encoding) -> list[tuple[int, bool]]:
    """For each token the number of its word, and whether it is the first token of it; never for [CLS] and [SEP]."""
    words = encoding.word_ids
    return [
        (-1 if word is None else word, word is not None and word != before)
        for word, before in zip(words, [None, *words], strict=False)
    ]
