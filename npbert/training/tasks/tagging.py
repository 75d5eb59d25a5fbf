"""Tagging: a tag for every word, as in named-entity recognition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from npbert.compute import Array
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
from npbert.training.parallel import shared_out
from npbert.training.tasks.shown import confusion, cut, surest
from npbert.training.tasks.task import FinetuneTask

OUTSIDE = "O"
_WORDS = 80
"""How much of a sentence is shown."""


class TaggedTokens(NamedTuple):
    """A sentence as tokens, the numbers of its words' tags, and the words."""

    encoding: Encoding
    tags: list[int]
    words: list[str]


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
            TaggedTokens(
                encoding, [self.number_of(tag, f"{sentence.place} on") for tag in sentence.tags], sentence.words
            )
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
        for encoding, tags, _ in examples:
            row = [IGNORED] * len(encoding.ids)
            for token, word in first_tokens(encoding):
                row[token] = tags[word]
            rows.append(row)
        batch.labels = pad_rows(rows, IGNORED)
        return batch

    def predict(self, model: Any, examples: Sequence[TaggedTokens]) -> list[Array]:
        """What the model says of the W words of each example that it sees, (W, C)."""
        encodings = [example.encoding for example in examples]
        return shared_out(self.communicator, encodings, Tag(model, self.tokenizer).logits)

    def judge(self, said: list[Array], examples: Sequence[TaggedTokens]) -> dict[str, float]:
        """The metrics of the tags; the loss is over the words that a model sees."""
        labels = self.labels or ()
        targets = [tags[word] for encoding, tags, _ in examples for _, word in first_tokens(encoding)]
        loss = float(SoftmaxCrossEntropy().forward(np.concatenate(said), np.array(targets)))
        gold = [[labels[number] for number in example.tags] for example in examples]
        return {**self.scores(self._tags(said, examples), gold), "loss": loss}

    def show(self, said: list[Array], examples: Sequence[TaggedTokens]) -> dict[str, Any]:
        labels, predicted = self.labels or (), self._tags(said, examples)
        gold = [[labels[number] for number in example.tags] for example in examples]
        wrong = np.array([ours != theirs for ours, theirs in zip(predicted, gold, strict=True)])
        names = {tag: number for number, tag in enumerate(dict.fromkeys((*labels, OUTSIDE)))}
        true, ours = (np.array([names[tag] for tags in of_all for tag in tags]) for of_all in (gold, predicted))
        counts = confusion(true, ours, list(names))
        worst = [
            {
                "words": [cut(word, 60) for word in examples[number].words[:_WORDS]],
                "true": gold[number][:_WORDS],
                "predicted": predicted[number][:_WORDS],
            }
            for number in surest(wrong, np.array([-len(tags) for tags in gold]))
        ]
        return {"kind": "tags", "examples": len(examples), "wrong": int(wrong.sum()), "worst": worst, **counts}

    def _tags(self, said: list[Array], examples: Sequence[TaggedTokens]) -> list[list[str]]:
        """The most probable tag of each word; O for those that were cut off."""
        labels, predicted = self.labels or (), []
        for (encoding, numbers, _), scores in zip(examples, said, strict=True):
            tags = [OUTSIDE] * len(numbers)
            for (_, word), row in zip(first_tokens(encoding), scores, strict=True):
                tags[word] = labels[int(row.argmax())]
            predicted.append(tags)
        return predicted

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
