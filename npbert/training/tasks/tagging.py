"""Tagging: a tag for every word, as in named-entity recognition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from npbert.core import IGNORED
from npbert.data.batch import Batch
from npbert.data.conll import TaggedSentence, column_number, read_conll
from npbert.data.padding import pad_rows
from npbert.data.tokenizer import Encoding
from npbert.files import FileError
from npbert.inference import Tag, find_entities, first_tokens
from npbert.layers import SoftmaxCrossEntropy
from npbert.models import BertForTokenClassification
from npbert.training.metrics import accuracy, entity_scores
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
    metrics: ClassVar[tuple[str, ...]] = ("precision", "recall", "f1", "accuracy", "loss")
    goal = "f1"
    unseen: ClassVar[tuple[str, ...]] = (OUTSIDE,)
    """Tags that are labels even if no word of the file has them."""

    def read(self, path: str) -> list[TaggedTokens]:
        word_column, tag_column = (
            column_number("text", self.settings.text),
            column_number("label", self.settings.label or "-1"),
        )
        sentences = read_conll(path, word_column=word_column, tag_column=tag_column)
        self.check_tags(sentences)
        self.learn_labels([*self.unseen, *(tag for sentence in sentences for tag in sentence.tags)], path)
        encodings = self.tokenizer.encode_words(
            [sentence.words for sentence in sentences], max_length=self.settings.max_length
        )
        self.warn_of_cuts(encodings, path)
        return [
            TaggedTokens(encoding, [self.number_of(tag, f"{sentence.place} on") for tag in sentence.tags])
            for encoding, sentence in zip(encodings, sentences, strict=True)
        ]

    def check_tags(self, sentences: Sequence[TaggedSentence]) -> None:
        """Raise FileError for a tag that is none: here, and not when a trained model is judged."""
        for sentence in sentences:
            try:
                find_entities(sentence.tags)
            except ValueError as error:
                raise FileError(
                    f"{sentence.place} on: {error}; for tags of another kind there is --task pos"
                ) from error

    def collate(self, examples: Sequence[TaggedTokens]) -> Batch:
        batch = self.tokenizer.batch([example.encoding for example in examples])
        rows = []
        for encoding, tags in examples:
            row = [IGNORED] * len(encoding.ids)
            for token, word in first_tokens(encoding):
                row[token] = tags[word]
            rows.append(row)
        batch.labels = pad_rows(rows, IGNORED)
        return batch

    def evaluate(self, model: Any, examples: Sequence[TaggedTokens]) -> dict[str, float]:
        """The metrics of the tags; the loss is over the words that a model sees."""
        labels = self.labels or ()
        logits = Tag(model, self.tokenizer).logits([example.encoding for example in examples])
        predicted, gold, targets = [], [], []
        for (encoding, numbers), scores in zip(examples, logits, strict=True):
            tags = [OUTSIDE] * len(numbers)
            for (_, word), row in zip(first_tokens(encoding), scores, strict=True):
                tags[word] = labels[int(row.argmax())]
                targets.append(numbers[word])
            predicted.append(tags)
            gold.append([labels[number] for number in numbers])
        loss = float(SoftmaxCrossEntropy().forward(np.concatenate(logits), np.array(targets)))
        return {**self.scores(predicted, gold), "loss": loss}

    def scores(self, predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> dict[str, float]:
        """The metrics of lists of tags."""
        numbers = {tag: number for number, tag in enumerate((*(self.labels or ()), OUTSIDE))}  # it may be no label
        flat = [np.array([numbers[tag] for tags in sentences for tag in tags]) for sentences in (predicted, gold)]
        return {**entity_scores(predicted, gold)._asdict(), "accuracy": accuracy(*flat)}


class PartOfSpeech(Tagging):
    """A tag of any kind for every word, as its part of speech: each word is judged by itself."""

    metrics = ("accuracy", "loss")
    goal = "accuracy"
    unseen = ()

    def check_tags(self, sentences: Sequence[TaggedSentence]) -> None:
        """Any tag will do."""

    def scores(self, predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> dict[str, float]:
        pairs = [pair for tags in zip(predicted, gold, strict=True) for pair in zip(*tags, strict=True)]
        return {"accuracy": sum(ours == theirs for ours, theirs in pairs) / len(pairs)}
