"""SQuAD: questions about passages."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.squad import GoldAnswer, Question, read_squad
from npbert.data.tokenizer_files import Encoding
from npbert.inference import Answer, AnswerSpan
from npbert.layers import SoftmaxCrossEntropy
from npbert.training.span_metrics import exact_match, squad_scores
from npbert.training.tasks.report_rows import row_of
from npbert.training.tasks.settings import TaskSettings
from npbert.training.tasks.task import Examples, FinetuneTask, JudgedExample, Labels, Read, Row, Scores

_AROUND, _ANSWERS = 160, 5
"""The characters of a passage before and after an answer in a report, and the most gold answers in it."""


class Answered(NamedTuple):
    """A question, the model's best answer to it, and the loss of each window of its passage."""

    question: Question
    span: AnswerSpan
    losses: list[float]

    @property
    def gold(self) -> list[str]:
        """The texts of the right answers."""
        return [answer.text for answer in self.question.answers]


class QuestionAnswering(FinetuneTask, Answer):
    """The answer is a span of the passage. (Devlin et al. 2018, section 4.2; windows as in its code.)

    A row is a question, and an example is a window of its passage. The target is the first and the last token of the
    answer: 0 and 0, the place of [CLS], if the answer is not in this window.
    """

    metrics = ("exact_match", "f1", "loss")
    goal = "f1"

    @classmethod
    def read(cls, path: str, settings: TaskSettings, labels: Labels = None) -> Read:
        return read_squad(path), None

    def prepare(self, rows: Sequence[Question], path: str = "") -> list[JudgedExample]:
        """Return the windows of all questions, each with the first gold answer's place in it."""
        windows = self.all_windows([row.question for row in rows], [row.passage for row in rows])
        return [
            JudgedExample(encoding, question, _find(encoding, question.answers[0]))
            for question, encodings in zip(rows, windows, strict=True)
            for encoding in encodings
        ]

    def collate(self, examples: Examples) -> Batch:
        batch = self.batch([example.encoding for example in examples])
        batch.start_positions, batch.end_positions = self.targets(examples).T
        return batch

    def predict(self, examples: Examples) -> list[Answered]:
        """Return the best answer to each question, from all of its windows."""
        logits, places = super().predict(examples), dict[str, list[int]]()
        for place, example in enumerate(examples):
            places.setdefault(example.given.id, []).append(place)
        answered = []
        for windows in places.values():
            question, encodings = examples[windows[0]].given, [examples[place].encoding for place in windows]
            (best,) = self.best(encodings, [logits[place] for place in windows], question.passage, 1)
            losses = [_loss(logits[place], examples[place].target) for place in windows]
            answered.append(Answered(question, best, losses))
        return answered

    def judge(self, answered: Sequence[Answered], examples: Examples) -> Scores:
        predictions = {each.question.id: each.span.text for each in answered}
        gold = {each.question.id: each.gold for each in answered}
        loss = float(np.mean([loss for each in answered for loss in each.losses]))
        return {**squad_scores(predictions, gold)._asdict(), "loss": loss}

    def report_row(self, answered: Sequence[Answered], examples: Examples) -> Row:
        scores = np.array([each.span.score for each in answered])
        wrong = np.array([not exact_match(each.span.text, each.gold) for each in answered])
        columns = {
            "texts": [each.question.question for each in answered],
            "true": [list(dict.fromkeys(each.gold))[:_ANSWERS] for each in answered],
            "predicted": [each.span.text for each in answered],
            "probability": scores,
            "excerpt": [_excerpt(each.question) for each in answered],
        }
        return row_of("answers", wrong, scores, columns)


def _loss(logits: Array, answer: tuple[int, int]) -> float:
    """Return the mean of −log of the probabilities of the right start and the right end, as in the model's loss.

    logits (2, T)   answer: the first token and the last
    """
    return float(SoftmaxCrossEntropy()(logits.astype(float), np.array(answer)))


def _find(encoding: Encoding, answer: GoldAnswer) -> tuple[int, int]:
    """Return the first and the last token of the answer, or (0, 0) if it is not completely in this window."""
    first = answer.start + len(answer.text) - len(answer.text.lstrip())  # tokens have no spaces
    last = first + len(answer.text.strip())
    tokens = [number for number, sequence in enumerate(encoding.sequence_ids) if sequence == 1]
    inside = [number for number in tokens if encoding.offsets[number][1] > first and encoding.offsets[number][0] < last]
    is_whole = inside and encoding.offsets[inside[0]][0] <= first and encoding.offsets[inside[-1]][1] >= last
    return (inside[0], inside[-1]) if is_whole else (0, 0)


def _excerpt(question: Question) -> tuple[str, str, str]:
    """Return the passage before the first gold answer, the answer, and the passage after it."""
    (text, start), passage = question.answers[0], question.passage
    end = start + len(text)
    return passage[max(0, start - _AROUND) : start], text, passage[end : end + _AROUND]
