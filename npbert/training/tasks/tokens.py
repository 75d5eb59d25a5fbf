"""Tasks whose answer is in the tokens: a tag for every word, as in named-entity recognition; and SQuAD, questions about
passages."""

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import Batch, pad_rows
from npbert.data.task_files import Question, read_conll, read_squad
from npbert.inference import Answer, Tag, find_entities, first_tokens
from npbert.io import FileError, Setting, listed
from npbert.training.metrics import entity_scores, exact_match, squad_scores
from npbert.training.tasks.table import Labelled, TaskSettings, find_labels, known_label
from npbert.training.tasks.task import OUTSIDE, Answered, Examples, FinetuneTask, Labels, Read, Scores

_AROUND = 160
"""The characters of a passage before and after the first gold answer, in a report."""


class Tagging(FinetuneTask, Tag):
    """The first token of each word carries its tag; entities are judged as a whole. (Devlin et al. 2018, section 5.3.)

    The given value is the words of a sentence, and the target is their tags. Words beyond max_length
    count as predicted O (outside).
    """

    metrics: tuple[str, ...] = ("precision", "recall", "f1", "accuracy", "loss")
    goal = "f1"
    kind = "tags"
    has_entities = True
    """True for tags of entities. Among them is always O, even if no word of the file has it."""

    @classmethod
    def read(cls, path: str, settings: TaskSettings, labels: Labels = None) -> Read:
        sentences = read_conll(path, settings.text, settings.label or "-1")
        always = [OUTSIDE] if cls.has_entities else []
        known = labels or find_labels([*always, *chain(*(each.tags for each in sentences))], path)
        rows = []
        for words, tags, place in sentences:
            try:
                find_entities(tags if cls.has_entities else ())
            except ValueError as error:
                fix = f"for tags of another kind, give {Setting('task', 'pos')}"
                raise FileError(f"{place} on: {error}; {fix}") from error
            unknown = sorted(set(tags).difference(known))
            if unknown:
                says = f"the label is {listed(unknown)}, wanted {known_label(known).words}"
                raise FileError(f"{place} on: {says}")
            rows.append(Labelled(words, tags))
        return rows, known

    def targets(self, examples: Examples) -> Array:
        rows, number_of = [], self.labels.index
        for example in examples:
            row = [IGNORED] * len(example.encoding.ids)
            for word, token in first_tokens(example.encoding).items():
                row[token] = number_of(example.target[word])
            rows.append(row)
        return pad_rows(rows, IGNORED)

    def answers(self, logits: Any, examples: Examples) -> Iterator[Answered]:
        """Yield the tags of each word, O for words cut off. The shortest sentences count as the surest."""
        for example, scores in zip(examples, logits, strict=True):
            true, ours = example.target, [OUTSIDE] * len(example.target)
            for word, best in zip(first_tokens(example.encoding), scores.argmax(axis=1), strict=True):
                ours[word] = self.labels[best]
            entries = {"words": example.given, "true": true, "predicted": ours}
            yield Answered(true, ours, true != ours, -len(true), entries)

    def scores(self, predicted: Any, true: Any) -> Scores:
        scores = entity_scores(predicted, true) if self.has_entities else {}
        return {**scores, "accuracy": float(np.mean(np.concatenate(true) == np.concatenate(predicted)))}

    def loss(self, logits: Any, examples: Examples) -> float:
        """Return the mean over the words that a model reads."""
        targets = self.targets(examples)
        return float(self.model.loss_function(np.concatenate(logits), targets[targets != IGNORED]))


class PartOfSpeech(Tagging):
    """A tag of any kind for every word, as its part of speech: each word is judged separately."""

    metrics = ("accuracy", "loss")
    goal = "accuracy"
    has_entities = False


class QuestionAnswering(FinetuneTask, Answer):
    """The answer is a span of the passage. (Devlin et al. 2018, section 4.2; windows as in its code.)

    A row is a question, and an example is a window of its passage. The target is the first and the last token of the
    answer: 0 and 0, the place of [CLS], if the answer is not in this window.
    """

    metrics = ("exact_match", "f1", "loss")
    goal = "f1"
    kind = "answers"

    @classmethod
    def read(cls, path: str, settings: TaskSettings, labels: Labels = None) -> Read:
        return read_squad(path), None

    def prepare(self, rows: Sequence[Question], path: str = "") -> list[Labelled]:
        """Return the windows of all questions, each with the first gold answer's place in it."""
        windows = self.all_windows([row.question for row in rows], [row.passage for row in rows])
        examples = []
        for question, encodings in zip(rows, windows, strict=True):
            text, start = question.answers[0]
            first = start + len(text) - len(text.lstrip())  # tokens have no spaces
            last = start + len(text.rstrip()) - 1
            for encoding in encodings:
                ends = tuple(encoding.char_to_token(place, 1) for place in (first, last))
                examples.append(Labelled(question, (0, 0) if None in ends else ends, encoding=encoding))
        return examples

    def collate(self, examples: Examples) -> Batch:
        batch = self.batch([example.encoding for example in examples])
        batch.start_positions, batch.end_positions = self.targets(examples).T
        return batch

    def answers(self, logits: Any, examples: Examples) -> Iterator[Answered]:
        """Yield the best answer to each question, from all of its windows, which follow each other."""
        for question, group in groupby(zip(examples, logits, strict=True), key=lambda pair: pair[0].given):
            windows, scores = zip(*group, strict=True)
            (span,) = self.best([window.encoding for window in windows], scores, question.passage, 1)
            true = list(dict.fromkeys(answer.text for answer in question.answers))
            passage, (text, start) = question.passage, question.answers[0]
            end = start + len(text)
            entries = {
                "texts": question.question,
                "true": true,
                "predicted": span.text,
                "probability": span.score,
                "excerpt": (passage[max(0, start - _AROUND) : start], text, passage[end : end + _AROUND]),
            }
            yield Answered(true, span.text, not exact_match(span.text, true), span.score, entries)

    scores: Any = staticmethod(squad_scores)

    def loss(self, logits: Any, examples: Examples) -> float:
        """Return the mean of −log of the probabilities of the right start and the right end.   logits (2, T) each"""
        losses = map(self.model.loss_function, [scores.astype(float) for scores in logits], self.targets(examples))
        return float(np.mean(list(losses)))
