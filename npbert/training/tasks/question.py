"""SQuAD: questions about passages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.squad import GoldAnswer, Question, read_squad
from npbert.data.tokenizer import Encoding
from npbert.inference import Answer, AnswerSpan
from npbert.models import BertForQuestionAnswering
from npbert.training.metrics import exact_match, squad_scores
from npbert.training.parallel import shared_out
from npbert.training.tasks.shown import cut, short, surest
from npbert.training.tasks.task import FinetuneTask

_AROUND, _ANSWERS = 160, 5
"""How many characters of a passage are shown before and after an answer, and how many answers that count as right."""


class Window(NamedTuple):
    """A question and a part of its passage, as tokens, and the first and the last token of the answer: 0 and 0, the
    place of [CLS], where the answer is not in this part."""

    encoding: Encoding
    start: int
    end: int


class Said(NamedTuple):
    """The best answer to a question, and the loss of each of its windows."""

    span: AnswerSpan
    losses: list[float]


class QuestionAnswering(FinetuneTask):
    """The answer is a span of the passage. (Devlin et al. 2018, section 4.2; windows as in its code.)

    `read` gives questions; `windows` turns them into what is learned from.
    """

    model_class = BertForQuestionAnswering
    metrics = ("exact_match", "f1", "loss")
    goal = "f1"

    def read(self, path: str) -> list[Question]:
        return read_squad(path)

    def windows(self, model: Any, questions: Sequence[Question]) -> list[Window]:
        """The windows of all questions, each with its share of the first gold answer."""
        return [
            Window(encoding, *_find(encoding, question.answers[0]))
            for question, of_one in zip(questions, self._windows(model, questions), strict=True)
            for encoding in of_one
        ]

    def collate(self, examples: Sequence[Window]) -> Batch:
        batch = self.tokenizer.batch([example.encoding for example in examples])
        batch.start_positions = np.array([example.start for example in examples])
        batch.end_positions = np.array([example.end for example in examples])
        return batch

    def predict(self, model: Any, examples: Sequence[Question]) -> list[Said]:
        answer = self._answer(model)
        windows = self._windows(model, examples)
        all_windows = [window for of_one in windows for window in of_one]
        logits = iter(shared_out(self.communicator, all_windows, answer.logits))
        predictions = []
        for row, of_one in zip(examples, windows, strict=True):
            scores = list(islice(logits, len(of_one)))
            losses = [_loss(score, _find(window, row.answers[0])) for window, score in zip(of_one, scores, strict=True)]
            predictions.append(Said(answer.best(of_one, scores, row.passage, 1)[0], losses))
        return predictions

    def judge(self, said: list[Said], examples: Sequence[Question]) -> dict[str, float]:
        predictions = {row.id: one.span.text for row, one in zip(examples, said, strict=True)}
        gold = {row.id: [answer.text for answer in row.answers] for row in examples}
        loss = float(np.mean([loss for one in said for loss in one.losses]))
        return {**squad_scores(predictions, gold)._asdict(), "loss": loss}

    def show(self, said: list[Said], examples: Sequence[Question]) -> dict[str, Any]:
        wrong = np.array(
            [
                exact_match(one.span.text, [answer.text for answer in row.answers]) == 0
                for row, one in zip(examples, said, strict=True)
            ]
        )
        chosen = surest(wrong, np.array([one.span.score for one in said]))
        worst = [_shown(examples[number], said[number].span) for number in chosen]
        return {"kind": "answers", "examples": len(examples), "wrong": int(wrong.sum()), "worst": worst}

    def _windows(self, model: Any, rows: Sequence[Question]) -> list[list[Encoding]]:
        return self._answer(model).all_windows([row.question for row in rows], [row.passage for row in rows])

    def _answer(self, model: Any) -> Answer:
        return Answer(model, self.tokenizer, max_length=self.settings.max_length)


def _loss(logits: Array, answer: tuple[int, int]) -> float:
    """−log of the probability of the right start, and of the right end: their mean, as in the model's loss.

    logits (2, T)   answer: the first token and the last
    """
    scores = logits.astype(float)
    return float((np.logaddexp.reduce(scores, axis=1) - scores[[0, 1], answer]).mean())


def _find(encoding: Encoding, answer: GoldAnswer) -> tuple[int, int]:
    """The first and the last token of the answer, or (0, 0) when it is not wholly in this window."""
    first = answer.start + len(answer.text) - len(answer.text.lstrip())  # spaces are part of no token
    last = first + len(answer.text.strip())
    tokens = [index for index, sequence in enumerate(encoding.sequence_ids) if sequence == 1]
    inside = [index for index in tokens if encoding.offsets[index][1] > first and encoding.offsets[index][0] < last]
    is_whole = inside and encoding.offsets[inside[0]][0] <= first and encoding.offsets[inside[-1]][1] >= last
    return (inside[0], inside[-1]) if is_whole else (0, 0)


def _shown(question: Question, span: AnswerSpan) -> dict[str, Any]:
    """A question with what is right and what the model says, and the passage around the right answer: `true` and
    `predicted` are where the answers begin and end in it."""
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
