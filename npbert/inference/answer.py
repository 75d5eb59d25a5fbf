"""Answer: the part of a passage that answers a question."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, overload

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer import Tokenizer
from npbert.data.tokenizer_files import Encoding
from npbert.inference.task import Task
from npbert.io.messages import counted, warn
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

    def __call__(self, question: str | Iterable[str], passage: str | Iterable[str]) -> AnswerSpan | list[AnswerSpan]:
        if isinstance(question, str) and isinstance(passage, str):
            return self([question], [passage])[0]
        return [answers[0] for answers in self.n_best(question, passage, 1)]

    def n_best(self, questions: Iterable[str], passages: Iterable[str], count: int) -> list[list[AnswerSpan]]:
        """Return the `count` best answers to each question, best first, or fewer if there are fewer legal spans."""
        questions, passages = list(questions), list(passages)
        if len(questions) != len(passages):
            raise ValueError(f"questions has {len(questions)}, wanted one for each of the {len(passages)} passages")
        windows = self.all_windows(questions, passages)
        logits = iter(self.logits([window for one in windows for window in one]))
        return [
            self.best(encodings, list(islice(logits, len(encodings))), passage, count)
            for encodings, passage in zip(windows, passages, strict=True)
        ]

    def logits(self, windows: Sequence[Encoding]) -> list[Array]:
        """Return an array (2, T) for each window: the scores of its T tokens as the start and as the end of the
        answer."""

        def compute(batch: Batch, numbers: Sequence[int]) -> Iterator[Array]:
            for number, *scores in zip(numbers, *self.model(batch), strict=True):
                yield np.stack(scores)[:, : len(windows[number].ids)]

        return self.run(windows, compute)

    def best(self, windows: Sequence[Encoding], logits: Sequence[Array], passage: str, count: int) -> list[AnswerSpan]:
        """Return the `count` best answers to one question, from all windows of its passage and their `logits`. A span
        in two windows counts once."""
        spans: list[AnswerSpan] = []
        totals = []
        for window, (start_logits, end_logits) in zip(windows, logits, strict=True):
            tokens = [index for index, sequence in enumerate(window.sequence_ids) if sequence == 1]
            part = slice(tokens[0], tokens[-1] + 1)
            found, total = best_spans(
                start_logits[part], end_logits[part], max_length=self.max_answer_length, n_best=count
            )
            totals.append(total)
            for first, last, score in found:
                start, _ = window.word_to_chars(window.word_ids[tokens[first]], 1)
                _, end = window.word_to_chars(window.word_ids[tokens[last]], 1)
                spans.append(AnswerSpan(passage[start:end], score, start, end))
        log_total = float(np.logaddexp.reduce(totals))
        by_place: dict[tuple[int, int], AnswerSpan] = {}
        for span in sorted(spans, key=lambda span: -span.score):
            by_place.setdefault((span.start, span.end), span)
        return [span._replace(score=math.exp(span.score - log_total)) for span in by_place.values()][:count]

    def all_windows(self, questions: Sequence[str], passages: Sequence[str]) -> list[list[Encoding]]:
        """Return the windows of each passage, each after its question. Warns of questions that were cut."""
        tokens, limit = self.tokenizer.encode(questions), self.max_question_length
        cut = [number for number, encoding in enumerate(tokens) if len(encoding.ids) - 2 > limit]
        asked = list(questions)
        for number in cut:
            asked[number] = asked[number][: tokens[number].offsets[limit][1]]
        if cut:
            first = questions[cut[0]][:60]
            warn(f"{len(cut)} of {counted(len(tokens), 'question')} cut to {limit} tokens; the first is {first!r}…")
        found, overlap = [], self.max_length // 3
        for question, passage in zip(asked, passages, strict=True):
            windows = self.tokenizer.encode_windows(question, passage, max_length=self.max_length, stride=overlap)
            if 1 not in windows[0].sequence_ids:
                raise ValueError(f"the passage for the question {question!r} is empty, wanted text")
            found.append(windows)
        return found


class Span(NamedTuple):
    """The first and the last token of a span, and its score: the sum of the scores of start and end."""

    start: int
    end: int
    score: float


def best_spans(start_logits: Array, end_logits: Array, *, max_length: int, n_best: int) -> tuple[list[Span], float]:
    """Return the `n_best` legal spans with the highest scores, best first, and log Σ e^score over all legal spans.

    start_logits, end_logits (P,): the scores of the P tokens of the passage. Legal is start ≤ end < start + max_length.
    The probability of a span is e^(score − log Σ). (Devlin et al. 2018, section 4.2.)

    Raises: ValueError unless there are tokens, and max_length and n_best are at least 1.
    """
    if min(len(start_logits), max_length, n_best) < 1:
        raise ValueError(
            f"{len(start_logits)} tokens, max_length {max_length}, n_best {n_best}: wanted at least 1 of each"
        )
    scores = start_logits[:, None] + end_logits[None, :]  # (P, P): a row for each start, a column for each end
    starts, ends = np.nonzero(np.triu(np.tri(len(scores), k=max_length - 1)))
    legal = scores[starts, ends]
    best = np.argsort(-legal, kind="stable")[:n_best]
    highest = legal.max()
    log_total = float(highest + np.log(np.exp(legal - highest).sum()))
    return [Span(int(starts[i]), int(ends[i]), float(legal[i])) for i in best], log_total
