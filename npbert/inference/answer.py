"""Answer: the part of a passage that answers a question."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.data.batch import Batch
from npbert.data.tokenizer import Encoding, Tokenizer
from npbert.inference.spans import best_spans
from npbert.inference.task import Task
from npbert.models import BertForQuestionAnswering


class AnswerSpan(NamedTuple):
    """The answer, its probability among all legal spans, and where it stands: passage[start:end] is the text."""

    text: str
    score: float
    start: int
    end: int


class Answer(Task):
    """answer(question, passage) -> the best AnswerSpan; of lists of questions and passages a list.

    A passage that is too long for the model is read in windows of `max_length` tokens, each of which shares a third
    with the one before; their spans compete. An answer is made of whole words, even where the best span is of parts.
    max_answer_length, max_question_length: in tokens; a longer question is cut, with a warning. (Devlin et al. 2018,
    section 4.2; windows, lengths and whole words as in its code.)

    Raises: ValueError for a passage without any token, lists of different lengths, or a max_length that the model does
    not take.
    """

    model_class = BertForQuestionAnswering

    def __init__(
        self,
        model: BertForQuestionAnswering,
        tokenizer: Tokenizer,
        *,
        max_length: int | None = None,
        max_answer_length: int = 30,
        max_question_length: int | None = None,
    ) -> None:
        super().__init__(model, tokenizer)
        longest = model.config.max_position_embeddings
        self.max_length = min(384, longest) if max_length is None else max_length
        if self.max_length > longest:
            raise ValueError(f"max_length is {max_length}, but the model takes {longest} tokens")
        self.max_answer_length = max_answer_length
        self.max_question_length = min(64, self.max_length // 3) if max_question_length is None else max_question_length

    def __call__(self, question: str | Sequence[str], passage: str | Sequence[str]) -> Any:
        if isinstance(question, str) and isinstance(passage, str):
            return self([question], [passage])[0]
        return [answers[0] for answers in self.n_best(question, passage, 1)]

    def n_best(self, questions: Sequence[str], passages: Sequence[str], count: int) -> list[list[AnswerSpan]]:
        """The `count` best answers to each question, best first; fewer where there are fewer legal spans."""
        if len(questions) != len(passages):
            raise ValueError(f"{len(questions)} questions for {len(passages)} passages, wanted one for each")
        windows, owners = [], []
        for number, (question, passage) in enumerate(zip(questions, passages, strict=True)):
            encodings = self.windows(question, passage)
            windows += encodings
            owners += [number] * len(encodings)

        def decode(batch: Batch, numbers: Sequence[int]) -> list[tuple[list[AnswerSpan], float]]:
            output = self.model(batch)
            return [
                self._spans(windows[number], passages[owners[number]], start_logits, end_logits, count)
                for number, start_logits, end_logits in zip(numbers, *output, strict=True)
            ]

        found: list[list[tuple[list[AnswerSpan], float]]] = [[] for _ in questions]
        for owner, result in zip(owners, self.run(windows, decode), strict=True):
            found[owner].append(result)
        return [_best(results)[:count] for results in found]

    def windows(self, question: str, passage: str) -> list[Encoding]:
        """The windows of one passage, each with the question before it."""
        tokens = self.tokenizer.encode([question])[0]
        if len(tokens.ids) - 2 > self.max_question_length:
            warnings.warn(f"question cut to {self.max_question_length} tokens: {question[:60]!r}…", stacklevel=4)
            question = question[: tokens.offsets[self.max_question_length][1]]
        windows = self.tokenizer.encode_windows(
            question, passage, max_length=self.max_length, stride=self.max_length // 3
        )
        if 1 not in windows[0].sequence_ids:
            raise ValueError(f"the passage for the question {question!r} is empty")
        return windows

    def _spans(
        self, window: Encoding, passage: str, start_logits: Any, end_logits: Any, count: int
    ) -> tuple[list[AnswerSpan], float]:
        """The best spans of one window, with their raw scores, and log Σ e^score over all of its spans."""
        tokens = [index for index, sequence in enumerate(window.sequence_ids) if sequence == 1]
        first, last = tokens[0], tokens[-1] + 1
        spans, log_total = best_spans(
            start_logits[first:last], end_logits[first:last], max_length=self.max_answer_length, n_best=count
        )
        edges: dict[int, tuple[int, int]] = {}  # where each word of the window starts and ends
        for index in tokens:
            word, (start, end) = window.word_ids[index], window.offsets[index]
            edges[word] = (edges.get(word, (start, end))[0], end)
        words = window.word_ids[first:last]
        places = [(edges[words[span.start]][0], edges[words[span.end]][1]) for span in spans]
        return [
            AnswerSpan(passage[start:end], span.score, start, end)
            for (start, end), span in zip(places, spans, strict=True)
        ], log_total


def _best(windows: list[tuple[list[AnswerSpan], float]]) -> list[AnswerSpan]:
    """The spans of all windows, best first, with probabilities for scores. What two windows share is there once."""
    log_total = float(np.logaddexp.reduce([total for _, total in windows]))
    by_place: dict[tuple[int, int], AnswerSpan] = {}
    for span in sorted((span for spans, _ in windows for span in spans), key=lambda span: -span.score):
        by_place.setdefault((span.start, span.end), span)
    return [span._replace(score=math.exp(span.score - log_total)) for span in by_place.values()]
