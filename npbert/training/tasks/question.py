"""SQuAD: questions about passages."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.squad import GoldAnswer, Question, read_squad
from npbert.data.tokenizer_files import Encoding
from npbert.inference import Answer, AnswerSpan
from npbert.training.log import short
from npbert.training.span_metrics import exact_match, squad_scores
from npbert.training.tasks.report_rows import cut, row_of
from npbert.training.tasks.task import FinetuneTask, JudgedExample, TaskSettings

_AROUND, _ANSWERS = 160, 5
"""The characters of a passage before and after an answer in a report, and the most gold answers in it."""


class Answered(NamedTuple):
    """A question, the model's best answer to it, and the loss of each window of its passage."""

    question: Question
    span: AnswerSpan
    losses: list[float]


class QuestionAnswering(FinetuneTask, Answer):
    """The answer is a span of the passage. (Devlin et al. 2018, section 4.2; windows as in its code.)

    A row is a question, and an example is a window of its passage. The target is the first and the last token of the
    answer: 0 and 0, the place of [CLS], if the answer is not in this window.
    """

    metrics = ("exact_match", "f1", "loss")
    goal = "f1"

    @classmethod
    def read(
        cls, path: str, settings: TaskSettings, labels: Sequence[str] | None = None
    ) -> tuple[list[Question], None]:
        return read_squad(path), None

    def prepare(self, rows: Sequence[Question], path: str = "") -> list[JudgedExample]:
        """Return the windows of all questions, each with the first gold answer's place in it."""
        windows = self.all_windows([row.question for row in rows], [row.passage for row in rows])
        return [
            JudgedExample(encoding, question, _find(encoding, question.answers[0]))
            for question, encodings in zip(rows, windows, strict=True)
            for encoding in encodings
        ]

    def collate(self, examples: Sequence[JudgedExample]) -> Batch:
        batch = self.tokenizer.batch([example.encoding for example in examples])
        batch.start_positions, batch.end_positions = np.array([example.target for example in examples]).T
        return batch

    def predict(self, examples: Sequence[JudgedExample]) -> list[Answered]:
        """Return the best answer to each question, from all of its windows."""
        answered = []
        pairs = zip(examples, super().predict(examples), strict=True)
        for _, windows in groupby(pairs, lambda pair: id(pair[0].given)):
            window_examples, logits = zip(*windows, strict=True)
            question, encodings = window_examples[0].given, [example.encoding for example in window_examples]
            losses = [_loss(scores, example.target) for example, scores in zip(window_examples, logits, strict=True)]
            answered.append(Answered(question, self.best(encodings, logits, question.passage, 1)[0], losses))
        return answered

    def judge(self, answered: Sequence[Answered], examples: Sequence[JudgedExample]) -> dict[str, float]:
        predictions = {question.id: span.text for question, span, _ in answered}
        gold = {question.id: [answer.text for answer in question.answers] for question, *_ in answered}
        loss = float(np.mean([loss for each in answered for loss in each.losses]))
        return {**squad_scores(predictions, gold)._asdict(), "loss": loss}

    def report_row(self, answered: Sequence[Answered], examples: Sequence[JudgedExample]) -> dict[str, object]:
        right = [exact_match(span.text, [gold.text for gold in question.answers]) for question, span, _ in answered]
        scores = np.array([span.score for _, span, _ in answered])
        return row_of("answers", np.array(right) == 0, scores, lambda number: _describe(*answered[number]))


def _loss(logits: Array, answer: tuple[int, int]) -> float:
    """Return the mean of −log of the probabilities of the right start and the right end, as in the model's loss.

    logits (2, T)   answer: the first token and the last
    """
    scores = logits.astype(float)
    return float((np.logaddexp.reduce(scores, axis=1) - scores[[0, 1], answer]).mean())


def _find(encoding: Encoding, answer: GoldAnswer) -> tuple[int, int]:
    """Return the first and the last token of the answer, or (0, 0) if it is not completely in this window."""
    first = answer.start + len(answer.text) - len(answer.text.lstrip())  # tokens have no spaces
    last = first + len(answer.text.strip())
    tokens = [index for index, sequence in enumerate(encoding.sequence_ids) if sequence == 1]
    inside = [index for index in tokens if encoding.offsets[index][1] > first and encoding.offsets[index][0] < last]
    is_whole = inside and encoding.offsets[inside[0]][0] <= first and encoding.offsets[inside[-1]][1] >= last
    return (inside[0], inside[-1]) if is_whole else (0, 0)


def _describe(question: Question, span: AnswerSpan, _: object) -> dict[str, object]:
    """Return a question with the right and the predicted answer, and the passage around the right one: `true` and
    `predicted` are the places of the answers in it."""
    (text, start), passage = question.answers[0], question.passage
    first, last = max(0, start - _AROUND), min(len(passage), start + len(text) + _AROUND)
    while 0 < first < start and not passage[first - 1].isspace():  # whole words
        first += 1
    while start + len(text) < last < len(passage) and not passage[last].isspace():
        last -= 1
    excerpt = passage[first:last]
    return {
        "question": cut(question.question),
        "answers": [cut(text) for text in dict.fromkeys(answer.text for answer in question.answers)][:_ANSWERS],
        "said": cut(span.text),
        "probability": short(span.score),
        "excerpt": excerpt,
        "true": [start - first, min(start + len(text) - first, len(excerpt))],
        "predicted": [min(max(0, place - first), len(excerpt)) for place in (span.start, span.end)],
    }
