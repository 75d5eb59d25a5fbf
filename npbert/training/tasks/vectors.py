"""Vectors of texts: learned from pairs that belong together, or from pairs with a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer_files import Encoding
from npbert.inference import Embed
from npbert.inference.sentence_transformers import read_sentence_settings
from npbert.io.errors import InputError, Place, Sentence, Setting
from npbert.io.files import FileError, model_folder
from npbert.io.messages import listed
from npbert.layers import UnitLength
from npbert.models import BertForSentenceVectors
from npbert.models.sentence_vectors import LOSSES
from npbert.training.metrics import METRICS
from npbert.training.retrieval import RETRIEVAL_METRICS, Searched, retrieval_scores, search
from npbert.training.tasks.grouped import GroupedTask
from npbert.training.tasks.report_rows import cut, row_of
from npbert.training.tasks.table import Table, is_number
from npbert.training.tasks.task import JudgedExample, Labelled, TaskSettings, targets_of
from npbert.training.tasks.text import numbers_row

Vectors = dict[str, Array]
"""The vector (D,) of each text, by the text with its prompt."""


class SentenceVectors(GroupedTask):
    """Vectors that let a query find its text among all others.

    The given value is a query, its text, and other texts; each is read separately. An evaluation searches all texts of
    the file for each query.
    """

    model_class = BertForSentenceVectors
    model: BertForSentenceVectors
    metrics: ClassVar[tuple[str, ...]] = (*RETRIEVAL_METRICS, "loss")
    goal = "mrr_at_10"
    has_vectors = True
    before = "before training"
    losses: ClassVar[tuple[str, ...]] = ("in-batch", "both-ways", "triplet")
    """Those that it can have; the first unless another is chosen."""
    _first: Mapping[str, str] = {}

    @classmethod
    def for_settings(cls, settings: TaskSettings) -> type[SentenceVectors]:
        return ScoredVectors if settings.label else SentenceVectors

    @classmethod
    def check(cls, settings: TaskSettings) -> None:
        super().check(settings)
        if settings.loss not in ("", *cls.losses):
            hint = Setting("label"), " names the column of a score; without it, texts match or not"
            raise InputError(what="loss", got=settings.loss, wanted=" or ".join(cls.losses), hint=hint)
        if len(settings.prompts) > 2:
            wanted = "at most 2: for the first text, and for the others"
            raise InputError(what="prompts", got=list(settings.prompts), wanted=wanted)
        if settings.label and settings.negatives:
            raise InputError(what="negatives", got=list(settings.negatives), wanted="none with a score")
        if settings.loss == "triplet" and len(settings.negatives) != 1:
            raise InputError(what="negatives", got=list(settings.negatives), wanted="one column for triplets")
        if settings.batch_size < 2 and not settings.negatives and settings.loss != "cosine":
            wanted = "at least 2: the loss compares the pairs of a batch"
            raise InputError(what="batch_size", got=settings.batch_size, wanted=wanted)

    @classmethod
    def read(
        cls, path: str, settings: TaskSettings, labels: Sequence[str] | None = None
    ) -> tuple[list[Labelled], None]:
        columns = [("text_pair", settings.text_pair or "1"), *[("negatives", name) for name in settings.negatives]]
        table = Table(path, settings, *columns, label=settings.text)
        found = []
        for row in table.rows:
            label, *texts = row.values
            for (name, _), text in zip(table.columns[1:], texts, strict=True):
                if not text.strip():
                    raise FileError((Setting(name), " is empty"), wanted="a text", where=row.place)
            target = _score(label, settings, row.place, table.hint(row)) if settings.label else 0.0
            found.append(Labelled(tuple(texts), target))
        what = "label" if settings.label else "text_pair"
        values = {row.target if settings.label else row.given[1] for row in found}
        if len(values) == 1 and not settings.negatives:
            says = Setting(what), " is the same in all rows, so there is nothing to compare"
            raise FileError(says, where=Place(path))
        return found, None

    @classmethod
    def model_options(cls, folder: str | Path, options: dict[str, Any]) -> dict[str, Any]:
        """Return the pooling, from the folder if it has one, and the loss."""
        settings, stored = options["settings"], read_sentence_settings(model_folder(folder))
        if stored:
            stored.check_complete(is_chosen=bool(settings.pooling))
        pooling = settings.pooling or (stored.pooling if stored else None) or "mean"
        loss = LOSSES[settings.loss or cls.losses[0]]()
        return {"pooling": pooling, "normalize": bool(stored and stored.normalize), "loss_function": loss}

    def sequences_of(self, given: Sequence[str]) -> list[str]:
        prompts = (*self.settings.prompts, "", "")[:2]
        return [prompts[min(column, 1)] + text for column, text in enumerate(given)]

    def collate(self, examples: Sequence[JudgedExample]) -> Batch:
        batch = self.batch([example.encoding for example in examples])
        batch.labels = self.targets(examples)
        return batch

    def targets(self, examples: Sequence[JudgedExample]) -> Array:
        """Return a number for each text (B, C). Equal texts have equal numbers, so no text is a wrong answer to its own
        query."""
        numbers: dict[str, int] = {}
        return np.array([[numbers.setdefault(text, len(numbers)) for text in example.given] for example in examples])

    def predict(self, examples: Sequence[JudgedExample]) -> Vectors:
        """Return the vector of each different text, computed once, in batches of similar length."""
        known: dict[str, Encoding] = {}
        for example in examples:
            known.update(zip(self.sequences_of(example.given), example.encoding, strict=True))
        texts = sorted(known, key=lambda text: len(known[text].ids))
        groups = super().predict([JudgedExample([known[text]], text, 0.0) for text in texts])
        return {text: vector for text, (vector,) in zip(texts, groups, strict=True)}

    def in_groups(self, vectors: Vectors, examples: Sequence[JudgedExample]) -> Array:
        """Return the vectors of the texts of each example (N, C, D)."""
        rows = [vectors[text] for example in examples for text in self.sequences_of(example.given)]
        return np.stack(rows).reshape(len(examples), -1, len(rows[0]))

    def loss(self, vectors: Vectors, examples: Sequence[JudgedExample]) -> float:
        """Return the mean of the losses of batches, as in training."""
        size, total = self.settings.batch_size, 0.0
        for start in range(0, len(examples), size):
            batch = examples[start : start + size]
            total += len(batch) * float(self.model.loss_function(self.in_groups(vectors, batch), self.targets(batch)))
        return total / len(examples)

    def known_before(self, examples: Sequence[JudgedExample]) -> dict[str, float]:
        return self.evaluate(examples)

    def search(self, vectors: Vectors, examples: Sequence[JudgedExample]) -> list[Searched]:
        """Return the texts found for each query."""
        return search([self.sequences_of(example.given) for example in examples], vectors)

    def judge(self, logits: Vectors, examples: Sequence[JudgedExample]) -> dict[str, float]:
        searched = self.search(logits, examples)
        self._first = self._first or {each.query: each.found[0] for each in searched}
        scores = retrieval_scores([each.found for each in searched], [each.relevant for each in searched])
        return {**scores, "loss": self.loss(logits, examples)}

    def report_row(self, logits: Vectors, examples: Sequence[JudgedExample]) -> dict[str, object]:
        """Return the queries with another text found first, and the first evaluation's result, before training."""
        searched = self.search(logits, examples)

        def describe(number: int) -> dict[str, object]:
            query, (true, *_), (first, *_), _ = searched[number]
            before = self._first.get(query, first)
            return {"text": cut(query), "true": cut(true), "predicted": cut(first), "before": cut(before)}

        wrong = [each.found[0] not in each.relevant for each in searched]
        return row_of("search", np.array(wrong), np.array([each.score for each in searched]), describe)

    def save_pretrained(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write a folder of sentence-transformers, for `npbert search`."""
        self.embed().save_pretrained(folder, overwrite=overwrite)

    def embed(self) -> Embed:
        """Return Embed for the model."""
        options: dict[str, Any] = {
            "pooling": self.model.pooling_name,
            "normalize": isinstance(self.model.unit, UnitLength),
        }
        return Embed(self.model.bert, self.tokenizer, max_length=self.max_length, **options)


class ScoredVectors(SentenceVectors):
    """Vectors whose cosine predicts the similarity score of a pair of texts. (STS-B, section 4.1 of Reimers & Gurevych
    2019.)"""

    metrics = ("spearman", "pearson", "loss")
    goal = "spearman"
    losses = ("cosent", "cosine")

    def targets(self, examples: Sequence[JudgedExample]) -> Array:
        return targets_of(examples)

    def judge(self, logits: Vectors, examples: Sequence[JudgedExample]) -> dict[str, float]:
        cosines, scores = self.cosines(logits, examples), targets_of(examples)
        found = {name: METRICS[name](cosines, scores) for name in ("spearman", "pearson")}
        return {**found, "loss": self.loss(logits, examples)}

    def report_row(self, logits: Vectors, examples: Sequence[JudgedExample]) -> dict[str, object]:
        return numbers_row(self.cosines(logits, examples).astype(float), examples)

    def cosines(self, vectors: Vectors, examples: Sequence[JudgedExample]) -> Array:
        """The cosine of each pair (N,)."""
        unit = UnitLength()(self.in_groups(vectors, examples))
        cosines: Array = (unit[:, 0] * unit[:, 1]).sum(axis=1)
        return cosines


def _score(text: str, settings: TaskSettings, place: Place, hint: Sentence) -> float:
    """Return the number of a score. Raises: FileError for other text, or for no cosine if the loss needs one."""
    if not is_number(text):
        raise FileError(f"the score {listed([text])} is not a number", where=place, hint=hint)
    if settings.loss == "cosine" and abs(float(text)) > 1:
        hint = Setting("loss", ("cosent",)), " predicts scores of any size"
        raise FileError(f"the score is {text}", wanted="a cosine, between -1 and 1", where=place, hint=hint)
    return float(text)
