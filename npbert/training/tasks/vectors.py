"""Vectors of texts: learned from pairs that belong together, or from pairs with a score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from npbert.compute import Array
from npbert.data.batch import Batch
from npbert.data.tokenizer import Text
from npbert.inference import Embed
from npbert.inference.sentence_transformers import read_sentence_settings
from npbert.io.errors import InputError, Place, Sentence, Setting
from npbert.io.files import FileError, model_folder
from npbert.io.messages import listed
from npbert.layers import CosineLoss
from npbert.models import BertForSentenceVectors
from npbert.models.sentence_vectors import LOSSES
from npbert.training.metrics import METRICS
from npbert.training.retrieval import RETRIEVAL_METRICS, Library, retrieval_scores
from npbert.training.tasks.grouped import GroupedTask
from npbert.training.tasks.report_rows import cut, row_of
from npbert.training.tasks.table import Table, is_number
from npbert.training.tasks.task import JudgedExample, Labelled, TaskSettings, targets_of
from npbert.training.tasks.text import numbers_row

_OF_SCORES = ("cosent", "cosine")


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
    usual_loss: ClassVar[str] = "in-batch"
    _before: Sequence[int] = ()

    @classmethod
    def for_settings(cls, settings: TaskSettings) -> type[SentenceVectors]:
        return ScoredVectors if settings.label else SentenceVectors

    @classmethod
    def check(cls, settings: TaskSettings) -> None:
        super().check(settings)
        fitting = [name for name in LOSSES if (name in _OF_SCORES) == bool(settings.label)]
        if settings.loss and settings.loss not in fitting:
            hint = Setting("label"), " names the column of a score; without it, texts match or not"
            raise InputError(what="loss", got=settings.loss, wanted=" or ".join(fitting), hint=hint)
        if len(settings.prompts) > 2:
            wanted = "at most 2: for the first text, and for the others"
            raise InputError(what="prompts", got=list(settings.prompts), wanted=wanted)
        if settings.label and settings.negatives:
            raise InputError(what="negatives", got=list(settings.negatives), wanted="none with a score")
        if settings.loss == "triplet" and len(settings.negatives) != 1:
            raise InputError(what="negatives", got=list(settings.negatives), wanted="one column for triplets")
        if not settings.label and not settings.negatives and settings.batch_size < 2:
            wanted = "at least 2, as the texts of other pairs are the wrong answers"
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
        return found, None

    @classmethod
    def model_options(cls, folder: str | Path, options: dict[str, Any]) -> dict[str, Any]:
        """Return the pooling, from the folder if it has one, and the loss."""
        settings, stored = options["settings"], read_sentence_settings(model_folder(folder))
        if stored:
            stored.check_complete(is_chosen=bool(settings.pooling))
        pooling = settings.pooling or (stored.pooling if stored else None) or "mean"
        loss = LOSSES[settings.loss or cls.usual_loss]()
        return {"pooling": pooling, "normalize": bool(stored and stored.normalize), "loss_function": loss}

    def sequences_of(self, given: Sequence[str]) -> list[Text]:
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

    def judge(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, float]:
        library = Library([example.given for example in examples])
        found = [[hit.corpus_id for hit in hits] for hits in library.search(logits)]
        return {**retrieval_scores(found, library.relevant), "loss": self.loss(logits, examples)}

    def loss(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> float:
        """Return the mean of the losses of batches, as in training."""
        size, total = self.settings.batch_size, 0.0
        for start in range(0, len(examples), size):
            batch = examples[start : start + size]
            vectors = np.stack(logits[start : start + size])
            total += len(batch) * float(self.model.loss_function(vectors, self.targets(batch)))
        return total / len(examples)

    def known_before(self, examples: Sequence[JudgedExample]) -> dict[str, float]:
        vectors = self.predict(examples)
        self._before = self.searched(vectors, examples)
        return self.judge(vectors, examples)

    def searched(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> list[int]:
        """Return the number of the first text found for each query."""
        found = Library([example.given for example in examples]).search(logits, top_k=1)
        return [hits[0].corpus_id for hits in found]

    def report_row(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, object]:
        """Return the queries with another text found first, and the result before training."""
        library = Library([example.given for example in examples])
        queries, texts, found = list(library.queries), list(library.texts), library.search(logits, top_k=1)

        def describe(number: int) -> dict[str, object]:
            own, first = min(library.relevant[number]), found[number][0].corpus_id
            told = {"true": own, "predicted": first, "before": self._before[number] if self._before else first}
            return {"text": cut(queries[number]), **{name: cut(texts[each]) for name, each in told.items()}}

        wrong = [hits[0].corpus_id not in known for hits, known in zip(found, library.relevant, strict=True)]
        return row_of("search", np.array(wrong), np.array([hits[0].score for hits in found]), describe)

    def save_pretrained(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write a folder of sentence-transformers, for `npbert search`."""
        self.embed().save_pretrained(folder, overwrite=overwrite)

    def embed(self) -> Embed:
        """Return the SentenceVectors of the model."""
        options: dict[str, Any] = {"pooling": self.model.pooling_name, "normalize": self.model.unit is not None}
        return Embed(self.model.bert, self.tokenizer, max_length=self.max_length, **options)


class ScoredVectors(SentenceVectors):
    """Vectors whose cosine predicts the similarity score of a pair of texts. (STS-B, section 4.1 of Reimers & Gurevych
    2019.)"""

    metrics = ("spearman", "pearson", "loss")
    goal = "spearman"
    usual_loss = "cosent"

    def targets(self, examples: Sequence[JudgedExample]) -> Array:
        return targets_of(examples)

    def known_before(self, examples: Sequence[JudgedExample]) -> dict[str, float]:
        return self.evaluate(examples)

    def judge(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, float]:
        cosines, scores = self._cosines(logits), targets_of(examples)
        found = {name: METRICS[name](cosines, scores) for name in ("spearman", "pearson")}
        return {**found, "loss": self.loss(logits, examples)}

    def report_row(self, logits: Sequence[Array], examples: Sequence[JudgedExample]) -> dict[str, object]:
        return numbers_row(self._cosines(logits).astype(float), examples)

    def _cosines(self, logits: Sequence[Array]) -> Array:
        return CosineLoss().cosines(np.stack(logits), np.zeros(len(logits)))


def _score(text: str, settings: TaskSettings, place: Place, hint: Sentence) -> float:
    """Return the number of a score. Raises: FileError for other text, or for no cosine if the loss needs one."""
    if not is_number(text):
        raise FileError(f"the score {listed([text])} is not a number", where=place, hint=hint)
    if settings.loss == "cosine" and abs(float(text)) > 1:
        hint = Setting("loss", ("cosent",)), " predicts scores of any size"
        raise FileError(f"the score is {text}", wanted="a cosine, between -1 and 1", where=place, hint=hint)
    return float(text)
