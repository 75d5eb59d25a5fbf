"""Tagging: a tag for every word, as in named-entity recognition."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data.batch import Batch, pad_rows
from npbert.data.conll import TaggedSentence, column_number, read_conll
from npbert.inference import Tag, find_entities, first_tokens
from npbert.io.errors import Setting
from npbert.io.files import FileError
from npbert.layers import SoftmaxCrossEntropy
from npbert.training.metrics import accuracy
from npbert.training.span_metrics import entity_scores
from npbert.training.tasks.report_rows import confusion, cut, row_of
from npbert.training.tasks.table import find_labels, number_of
from npbert.training.tasks.task import FinetuneTask, JudgedExample, Labelled, TaskSettings

OUTSIDE = "O"
_WORDS = 80
"""The most words of a sentence in a report."""


class Tagging(FinetuneTask, Tag):
    """The first token of each word carries its tag; entities are judged as a whole. (Devlin et al. 2018, section 5.3.)

    The given value is the words of a sentence, and the target is the numbers of their tags. Words beyond max_length
    count as predicted O (outside).
    """

    metrics: ClassVar[tuple[str, ...]] = ("precision", "recall", "f1", "accuracy", "loss")
    goal = "f1"
    unseen: ClassVar[tuple[str, ...]] = (OUTSIDE,)
    """Tags that are always labels, even if no word of the file has them."""

    @classmethod
    def check(cls, settings: TaskSettings) -> None:
        super().check(settings)
        for name in ("text", "label"):
            column_number(name, getattr(settings, name) or "-1")

    @classmethod
    def read(
        cls, path: str, settings: TaskSettings, labels: Sequence[str] | None = None
    ) -> tuple[list[Labelled], tuple[str, ...]]:
        sentences = read_conll(path, word_column=int(settings.text), tag_column=int(settings.label or "-1"))
        cls.check_tags(sentences)
        known = tuple(labels or find_labels([*cls.unseen, *(tag for each in sentences for tag in each.tags)], path))
        tags = [[number_of(tag, known, f"{each.place} on") for tag in each.tags] for each in sentences]
        return [Labelled(each.words, numbers) for each, numbers in zip(sentences, tags, strict=True)], known

    @staticmethod
    def check_tags(sentences: Sequence[TaggedSentence]) -> None:
        """Raise FileError for a wrong tag; not called when a trained model is evaluated."""
        for sentence in sentences:
            try:
                find_entities(sentence.tags)
            except ValueError as error:
                hint = ("for tags of another kind, give ", Setting("task", ("pos",)))
                raise FileError(str(error), where=f"{sentence.place} on", hint=hint) from error

    def collate(self, examples: Sequence[JudgedExample]) -> Batch:
        batch = self.tokenizer.batch([example.encoding for example in examples])
        rows = []
        for encoding, _, tags, *_ in examples:
            row = [IGNORED] * len(encoding.ids)
            for token, word in first_tokens(encoding):
                row[token] = tags[word]
            rows.append(row)
        batch.labels = pad_rows(rows, IGNORED)
        return batch

    def judge(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, float]:
        """Return the metrics of the tags; the loss is over the words that a model reads."""
        targets = [tags[word] for encoding, _, tags, *_ in examples for _, word in first_tokens(encoding)]
        loss = float(SoftmaxCrossEntropy()(np.concatenate(logits), np.array(targets)))
        return {**self.scores(*self._tags(logits, examples)), "loss": loss}

    def scores(self, predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> dict[str, float]:
        """Return the metrics of lists of tags."""
        return {**entity_scores(predicted, gold)._asdict(), "accuracy": accuracy(*self._numbers(predicted, gold))}

    def report_row(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, object]:
        predicted, gold = self._tags(logits, examples)
        wrong = np.array([ours != theirs for ours, theirs in zip(predicted, gold, strict=True)])

        def describe(number: int) -> dict[str, object]:
            words = [cut(word, 60) for word in examples[number].given[:_WORDS]]
            return {"words": words, "true": gold[number][:_WORDS], "predicted": predicted[number][:_WORDS]}

        true, ours = self._numbers(gold, predicted)
        row = row_of("tags", wrong, np.array([-len(tags) for tags in gold]), describe)
        return {**row, **confusion(true, ours, self._names)}

    def _tags(
        self, logits: Sequence[Array], examples: Sequence[JudgedExample]
    ) -> tuple[list[list[str]], list[list[str]]]:
        """Return the most probable tag of each word, O for words cut off, and the right tags."""
        labels, predicted = self.labels, []
        for (encoding, words, *_), scores in zip(examples, logits, strict=True):
            tags = [OUTSIDE] * len(words)
            for (_, word), row in zip(first_tokens(encoding), scores, strict=True):
                tags[word] = labels[int(row.argmax())]
            predicted.append(tags)
        return predicted, [[labels[number] for number in example.target] for example in examples]

    @property
    def _names(self) -> list[str]:
        """Return the tags, and O, the tag of words cut off, even if it is not a label."""
        return list(dict.fromkeys((*self.labels, OUTSIDE)))

    def _numbers(self, *sides: Sequence[Sequence[str]]) -> list[Array]:
        """Return all tags of each side as numbers."""
        numbers = {tag: number for number, tag in enumerate(self._names)}
        return [np.array([numbers[tag] for tags in side for tag in tags]) for side in sides]


class PartOfSpeech(Tagging):
    """A tag of any kind for every word, as its part of speech: each word is judged separately."""

    metrics = ("accuracy", "loss")
    goal = "accuracy"
    unseen = ()

    @staticmethod
    def check_tags(sentences: Sequence[TaggedSentence]) -> None:
        """Accept any tag."""

    def scores(self, predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> dict[str, float]:
        return {"accuracy": accuracy(*self._numbers(predicted, gold))}
