"""Tagging: a tag for every word, as in named-entity recognition."""

from itertools import chain
from typing import ClassVar

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import pad_rows
from npbert.data.task_files import column_number, read_conll
from npbert.inference import Tag, find_entities, first_tokens
from npbert.io import FileError, Setting, listed
from npbert.training.metrics import entity_scores
from npbert.training.tasks.report_rows import Row, Shown, confusion, row_of
from npbert.training.tasks.table import find_labels, known_label
from npbert.training.tasks.task import Examples, FinetuneTask, Labelled, Labels, Logits, Read, Scores, TaskSettings

OUTSIDE = "O"

Tags = list[list[str]]
"""The tags of each sentence."""


class Tagging(FinetuneTask, Tag):
    """The first token of each word carries its tag; entities are judged as a whole. (Devlin et al. 2018, section 5.3.)

    The given value is the words of a sentence, and the target is their tags. Words beyond max_length
    count as predicted O (outside).
    """

    metrics: ClassVar[tuple[str, ...]] = ("precision", "recall", "f1", "accuracy", "loss")
    goal = "f1"
    has_entities: ClassVar[bool] = True
    """True for tags of entities. Among them is always O, even if no word of the file has it."""

    @classmethod
    def read(cls, path: str, settings: TaskSettings, labels: Labels = None) -> Read:
        words, last = column_number("text", settings.text), column_number("label", settings.label or "-1")
        sentences = read_conll(path, word_column=words, tag_column=last)
        always = [OUTSIDE] if cls.has_entities else []
        known = labels or find_labels([*always, *chain(*(each.tags for each in sentences))], path)
        rows = []
        for words_, tags, place in sentences:
            try:
                find_entities(tags if cls.has_entities else ())
            except ValueError as error:
                hint = "for tags of another kind, give ", Setting("task", "pos")
                raise FileError(str(error), where=f"{place} on", hint=hint) from error
            unknown = sorted(set(tags).difference(known))
            if unknown:
                raise FileError(f"the label is {listed(unknown)}", wanted=known_label(known).words, where=f"{place} on")
            rows.append(Labelled(words_, tags))
        return rows, known

    def targets(self, examples: Examples) -> Array:
        rows, number_of = [], self.labels.index
        for example in examples:
            row = [IGNORED] * len(example.encoding.ids)
            for word, token in first_tokens(example.encoding).items():
                row[token] = number_of(example.target[word])
            rows.append(row)
        return pad_rows(rows, IGNORED)

    def judge(self, logits: Logits, examples: Examples) -> Scores:
        """Return the metrics of the tags; the loss is over the words that a model reads."""
        gold, predicted = self._tags(logits, examples)
        right = [true == ours for true, ours in _pairs(gold, predicted)]
        scores = entity_scores(predicted, gold) if self.has_entities else {}
        targets = self.targets(examples)
        loss = self.loss(np.concatenate(logits), targets[targets != IGNORED])
        return {**scores, "accuracy": float(np.mean(right)), "loss": loss}

    def report_row(self, logits: Logits, examples: Examples) -> Row:
        """Return the shortest sentences with a wrong tag."""
        gold, predicted = self._tags(logits, examples)
        answers = []
        for example, true, ours in zip(examples, gold, predicted, strict=True):
            answers.append(Shown(true != ours, -len(true), {"words": example.given, "true": true, "predicted": ours}))
        return {**row_of("tags", answers), **confusion(_pairs(gold, predicted), [*self.labels, OUTSIDE])}

    def _tags(self, logits: Logits, examples: Examples) -> tuple[Tags, Tags]:
        """Return the right tag of each word, and the most probable one, O for words cut off."""
        predicted = []
        for example, scores in zip(examples, logits, strict=True):
            tags = [OUTSIDE] * len(example.target)
            for word, best in zip(first_tokens(example.encoding), scores.argmax(axis=1), strict=True):
                tags[word] = self.labels[best]
            predicted.append(tags)
        return [example.target for example in examples], predicted


class PartOfSpeech(Tagging):
    """A tag of any kind for every word, as its part of speech: each word is judged separately."""

    metrics = ("accuracy", "loss")
    goal = "accuracy"
    has_entities = False


def _pairs(gold: Tags, predicted: Tags) -> list[tuple[str, str]]:
    """Return the two tags of every word of all sentences."""
    return list(zip(chain(*gold), chain(*predicted), strict=True))
