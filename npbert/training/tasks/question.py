"""SQuAD: questions about passages."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from npbert.data import Batch
from npbert.data.task_files import GoldAnswer, Question, read_squad
from npbert.inference import Answer, AnswerSpan
from npbert.training.metrics import exact_match, squad_scores
from npbert.training.tasks.report_rows import Row, Shown, row_of
from npbert.training.tasks.task import Examples, FinetuneTask, Labelled, Labels, Logits, Read, Scores, TaskSettings

_AROUND = 160
"""The characters of a passage before and after an answer in a report."""


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

    def prepare(self, rows: Sequence[Question], path: str = "") -> list[Labelled]:
        """Return the windows of all questions, each with the first gold answer's place in it."""
        windows = self.all_windows([row.question for row in rows], [row.passage for row in rows])
        return [
            Labelled(question, _find(encoding, question.answers[0]), encoding=encoding)
            for question, encodings in zip(rows, windows, strict=True)
            for encoding in encodings
        ]

    def collate(self, examples: Examples) -> Batch:
        batch = self.batch([example.encoding for example in examples])
        batch.start_positions, batch.end_positions = self.targets(examples).T
        return batch

    def answers(self, logits: Logits, examples: Examples) -> list[tuple[Question, AnswerSpan]]:
        """Return each question with the best answer, from all of its windows, which follow each other."""
        answered = []
        for question, group in groupby(zip(examples, logits, strict=True), key=lambda pair: pair[0].given):
            windows, scores = zip(*group, strict=True)
            (best,) = self.best([window.encoding for window in windows], scores, question.passage, 1)
            answered.append((question, best))
        return answered

    def judge(self, logits: Logits, examples: Examples) -> Scores:
        answered = self.answers(logits, examples)
        predictions = [span.text for _, span in answered]
        gold = [_texts(question) for question, _ in answered]
        # logits (2, T): the mean of −log of the probabilities of the right start and the right end
        losses = map(self.loss, [scores.astype(float) for scores in logits], self.targets(examples))
        return {**squad_scores(predictions, gold), "loss": float(np.mean(list(losses)))}

    def report_row(self, logits: Logits, examples: Examples) -> Row:
        answers = []
        for question, span in self.answers(logits, examples):
            gold = _texts(question)
            entries = {
                "texts": question.question,
                "true": list(dict.fromkeys(gold)),
                "predicted": span.text,
                "probability": span.score,
                "excerpt": _excerpt(question),
            }
            answers.append(Shown(not exact_match(span.text, gold), span.score, entries))
        return row_of("answers", answers)


def _texts(question: Question) -> list[str]:
    return [answer.text for answer in question.answers]


def _find(encoding: Any, answer: GoldAnswer) -> tuple[int, int]:
    """Return the first and the last token of the answer, or (0, 0) if it is not completely in this window."""
    first = answer.start + len(answer.text) - len(answer.text.lstrip())  # tokens have no spaces
    last = answer.start + len(answer.text.rstrip()) - 1
    start, end = encoding.char_to_token(first, 1), encoding.char_to_token(last, 1)
    return (0, 0) if start is None or end is None else (start, end)


def _excerpt(question: Question) -> tuple[str, str, str]:
    """Return the passage before the first gold answer, the answer, and the passage after it."""
    (text, start), passage = question.answers[0], question.passage
    end = start + len(text)
    return passage[max(0, start - _AROUND) : start], text, passage[end : end + _AROUND]
