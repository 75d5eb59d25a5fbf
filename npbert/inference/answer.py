"""Answer: the part of a passage that answers a question."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple, overload

import numpy as np

from npbert.compute import Array
from npbert.data import Batch, Encoding, Tokenizer
from npbert.inference.task import Task
from npbert.io import counted, warn
from npbert.layers import Softmax
from npbert.models import BertForQuestionAnswering


class AnswerSpan(NamedTuple):
    """The answer, its probability among all legal spans, and its place: passage[start:end] is the text."""

    text: str
    score: float
    start: int
    end: int


class Answer(Task):
    """answer(question, passage) -> the best AnswerSpan; for lists of questions and passages, a list.

    A long passage is read in windows of `max_length` tokens that overlap by a third; their spans compete. An answer has
    whole words, even if the best span ends inside one.

    max_length: by default as in Task, but at most 384.
    max_answer_length, max_question_length: in tokens; a longer question is cut, with a warning.

    (Devlin et al. 2018, section 4.2; windows, lengths and whole words as in its code.)

    Raises: ValueError for a passage without tokens, lists of different lengths, or a max_length beyond the model's.
    """

    model_class = BertForQuestionAnswering
    model: BertForQuestionAnswering

    def __init__(
        self,
        model: BertForQuestionAnswering,
        tokenizer: Tokenizer,
        *,
        max_length: int | None = None,
        max_answer_length: int = 30,
        max_question_length: int | None = None,
    ) -> None:
        super().__init__(model, tokenizer, max_length=max_length)
        if max_length is None:
            self.max_length = min(384, self.max_length)
        self.max_answer_length = max_answer_length
        self.max_question_length = min(64, self.max_length // 3) if max_question_length is None else max_question_length

    @overload
    def __call__(self, question: str, passage: str) -> AnswerSpan: ...  # type: ignore[overload-overlap]  # a str is an Iterable[str], too

    @overload
    def __call__(self, question: Iterable[str], passage: Iterable[str]) -> list[AnswerSpan]: ...

    def __call__(self, question: Any, passage: Any) -> AnswerSpan | list[AnswerSpan]:
        if isinstance(question, str):
            return self([question], [passage])[0]
        return [answers[0] for answers in self.n_best(question, passage, 1)]

    def n_best(self, questions: Iterable[str], passages: Iterable[str], count: int) -> list[list[AnswerSpan]]:
        """Return the `count` best answers to each question, best first, or fewer if there are fewer legal spans."""
        passages = list(passages)
        windows = self.all_windows(list(questions), passages)
        logits = iter(self.logits([window for each in windows for window in each]))
        return [
            self.best(encodings, islice(logits, len(encodings)), passage, count)
            for encodings, passage in zip(windows, passages, strict=True)
        ]

    def outputs(self, batch: Batch) -> list[Array]:
        """Return for each window (2, T) the scores of each of its tokens as the start and as the end of the answer."""
        scores, lengths = np.stack(super().outputs(batch), axis=1), batch.attention_mask.sum(axis=1)
        return [each[:, :length] for each, length in zip(scores, lengths, strict=True)]

    def best(self, windows: Sequence[Encoding], logits: Iterable[Array], passage: str, count: int) -> list[AnswerSpan]:
        """Return the `count` best answers to one question, from all windows of its passage and their `logits`.

        A span's score is the sum of the scores of its start and end. Legal is start ≤ end < start + max_answer_length,
        all of it in the passage, and its probability is e^score / Σ e^score over the legal spans of all windows. A span
        in two windows counts once.
        """
        spans: list[tuple[Any, int, int]] = []
        scores = []
        for window, (start_scores, end_scores) in zip(windows, logits, strict=True):
            tokens = np.flatnonzero([sequence == 1 for sequence in window.sequence_ids])  # (P,)
            starts, ends = tokens[np.array(np.nonzero(np.triu(np.tri(len(tokens), k=self.max_answer_length - 1))))]
            spans += [(window, start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
            scores.append(start_scores[starts] + end_scores[ends])
        values = np.concatenate(scores, dtype=float)
        probabilities = Softmax()(values)
        best: dict[tuple[int, int], AnswerSpan] = {}
        for place in np.argsort(-values, kind="stable"):
            window, first, last = spans[place]
            start, _ = window.word_to_chars(window.word_ids[first], 1)
            _, end = window.word_to_chars(window.word_ids[last], 1)
            span = AnswerSpan(passage[start:end], float(probabilities[place]), start, end)
            best.setdefault((start, end), span)
            if len(best) >= count:
                break
        return list(best.values())

    def all_windows(self, questions: Sequence[str], passages: Sequence[str]) -> list[list[Encoding]]:
        """Return the windows of each passage, each after its question. Warns of questions that were cut."""
        limit, overlap, found, cut = self.max_question_length, self.max_length // 3, [], list[str]()
        for question, encoding, passage in zip(questions, self.tokenizer.encode(questions), passages, strict=True):
            asked = question
            if len(encoding.ids) - 2 > limit:
                cut.append(question)
                asked = question[: encoding.offsets[limit][1]]
            windows = self.tokenizer.encode_windows(asked, passage, max_length=self.max_length, stride=overlap)
            if 1 not in windows[0].sequence_ids:
                raise ValueError(f"the passage for the question {asked!r} is empty, wanted text")
            found.append(windows)
        if cut:
            total = counted(len(questions), "question")
            warn(f"{len(cut)} of {total} cut to {limit} tokens; the first is {cut[0][:60]!r}…")
        return found
