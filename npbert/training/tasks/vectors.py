"""Vectors of texts: learned from pairs that belong together, or from pairs with a score."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.inference import Embed, semantic_search
from npbert.inference.sentence_transformers import read_sentence_settings
from npbert.io import InputError, Setting
from npbert.layers import UnitLength
from npbert.models import LOSSES, BertForSentenceVectors
from npbert.training.tasks.table import COSINE, NUMBER, TEXT, TaskSettings, read_rows
from npbert.training.tasks.task import Answered, Examples, FinetuneTask, Labels, Read
from npbert.training.tasks.text import GroupedTask, OneNumber

RETRIEVAL_METRICS = ("recall_at_1", "recall_at_10", "mrr_at_10", "ndcg_at_10")


def retrieval_scores(found: Sequence[Sequence[str]], relevant: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the mean over the queries of each of RETRIEVAL_METRICS. Only the first ten texts that are found count.

    recall_at_k: the share of the relevant texts that are among the first k
    mrr_at_10: 1 / the place of the first relevant text; 0 where none is among ten
    ndcg_at_10: Σ 1 / log₂(place + 1) over the relevant texts that are found, as a share of the largest possible
    (Järvelin & Kekäläinen 2002 for the last; InformationRetrievalEvaluator in sentence-transformers has the same.)
    """
    gains, rows = 1 / np.log2(np.arange(2, 12)), []
    for texts, wanted in zip(found, relevant, strict=True):
        places = np.flatnonzero([text in wanted for text in texts[:10]])  # from 0
        row = (
            (places == 0).sum() / len(wanted),
            len(places) / len(wanted),
            (1 / (places + 1)).max(initial=0.0),
            gains[places].sum() / gains[: len(wanted)].sum(),
        )
        rows.append(row)
    return dict(zip(RETRIEVAL_METRICS, np.mean(rows, axis=0).tolist(), strict=True))


class SentenceVectors(GroupedTask):
    """Vectors that let a query find its text among all others.

    The given value is a query, its text, and other texts; each is read separately. An evaluation searches all texts of
    the file for each query.
    """

    model_class = BertForSentenceVectors
    model: BertForSentenceVectors
    metrics: tuple[str, ...] = (*RETRIEVAL_METRICS, "loss")
    goal = "mrr_at_10"
    kind = "search"
    owns = ("negatives", "prompts", "pooling", "loss")
    before = "before training"
    losses: tuple[str, ...] = ("in-batch", "both-ways", "triplet")
    """Those that it can have; the first unless another is chosen."""

    @classmethod
    def check(cls, settings: TaskSettings) -> None:
        if settings.loss not in ("", *cls.losses):
            hint = f"{Setting('label')} names the column of a score; without it, texts match or not"
            raise InputError("loss", settings.loss, f"{' or '.join(cls.losses)}; {hint}")
        if settings.batch_size < 2 and not settings.negatives and settings.loss != "cosine":
            wanted = "at least 2: the loss compares the pairs of a batch"
            raise InputError("batch_size", settings.batch_size, wanted)

    @classmethod
    def read(cls, path: str, settings: TaskSettings, labels: Labels = None) -> Read:
        score = COSINE if settings.loss == "cosine" else NUMBER
        texts = ("text", "text_pair", "negatives")
        return read_rows(path, settings, score, texts, wanted=TEXT, number=float, second="text_pair"), None

    @classmethod
    def from_pretrained(cls, folder: str | Path, **options: Any) -> Any:
        """Return the task, with the loss and the pooling of the settings. By default the pooling is the folder's."""
        settings = options["settings"]
        _, stored = read_sentence_settings(folder, is_chosen=bool(settings.pooling))
        of_model = {
            **options.pop("of_model", {}),
            "pooling": settings.pooling or stored.get("pooling", "mean"),
            "normalize": stored.get("normalize", False),
            "loss_function": LOSSES[settings.loss or cls.losses[0]](),
        }
        return super().from_pretrained(folder, of_model=of_model, **options)

    def sequences_of(self, given: Sequence[str]) -> list[str]:
        first, others = (*self.settings.prompts, "", "")[:2]
        return [first + given[0], *(others + text for text in given[1:])]

    def targets(self, examples: Examples) -> Array:
        """Return a number for each text (B, C). Equal texts have equal numbers, so no text is a wrong answer to its own
        query."""
        numbers: dict[str, int] = {}
        return np.array([[numbers.setdefault(text, len(numbers)) for text in example.given] for example in examples])

    def loss(self, logits: Any, examples: Examples) -> float:
        """Return the mean of the losses of batches, as in training."""
        size, total = self.settings.batch_size, 0.0
        for start in range(0, len(examples), size):
            batch = slice(start, start + size)
            total += len(examples[batch]) * super().loss(logits[batch], examples[batch])
        return total / len(examples)

    known_before = FinetuneTask.evaluate

    def answers(self, logits: Any, examples: Examples) -> Iterator[Answered]:
        """Find the ten texts of the largest cosine for each different query, among all different texts. A match in any
        example is relevant. A report shows the first text found."""
        groups = [self.sequences_of(example.given) for example in examples]
        vectors = dict(zip(chain(*groups), chain(*logits), strict=True))
        relevant: dict[str, dict[str, None]] = {}
        for query, text, *_ in groups:
            relevant.setdefault(query, {})[text] = None
        texts = list(dict.fromkeys(text for _, *others in groups for text in others))
        hits = semantic_search([vectors[query] for query in relevant], [vectors[text] for text in texts], top_k=10)
        for (query, own), each in zip(relevant.items(), hits, strict=True):
            true, found = list(own), [texts[hit.corpus_id] for hit in each]
            entries = {"texts": query, "true": true[0], "predicted": found[0]}
            yield Answered(true, found, found[0] not in own, each[0].score, entries)

    scores: Any = staticmethod(retrieval_scores)

    def save_pretrained(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write a folder of sentence-transformers, for `npbert search`."""
        self.embed().save_pretrained(folder, overwrite=overwrite)

    def embed(self) -> Embed:
        """Return Embed for the model."""
        pooling: Any = self.model.pooling_name
        normalize = isinstance(self.model.unit, UnitLength)
        return Embed(self.model.bert, self.tokenizer, max_length=self.max_length, pooling=pooling, normalize=normalize)


class ScoredVectors(OneNumber, SentenceVectors):
    """Vectors whose cosine predicts the similarity score of a pair of texts. (STS-B, section 4.1 of Reimers & Gurevych
    2019.)"""

    metrics = ("spearman", "pearson", "loss")
    goal = "spearman"
    losses = ("cosent", "cosine")
    targets, scores = FinetuneTask.targets, FinetuneTask.scores

    def decode(self, logits: Array) -> Array:
        """Return the cosine of each pair (N,).   logits (N, 2, D)"""
        unit = UnitLength()(logits)
        return (unit[:, 0] * unit[:, 1]).sum(axis=1).astype(float)
