"""Retrieval: metrics of a search. Every score is between 0 and 1, and higher is better."""

from collections.abc import Collection, Mapping, Sequence
from math import log2
from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.inference.search import semantic_search

RETRIEVAL_METRICS = ("recall_at_1", "recall_at_10", "mrr_at_10", "ndcg_at_10")


class Searched(NamedTuple):
    """What a search finds for a query: the texts, the best first, and the cosine of that. relevant: the texts that
    belong to it."""

    query: str
    relevant: list[str]
    found: list[str]
    score: float


def retrieval_scores(searches: Sequence[Searched]) -> dict[str, float]:
    """Return the mean over the queries of each of RETRIEVAL_METRICS. Only the first ten texts that are found count.

    recall_at_k: the share of the relevant texts that are among the first k
    mrr_at_10: 1 / the place of the first relevant text; 0 where none is among ten
    ndcg_at_10: Σ 1 / log₂(place + 1) over the relevant texts that are found, as a share of the largest possible
    (Järvelin & Kekäläinen 2002 for the last; InformationRetrievalEvaluator in sentence-transformers has the same.)
    """
    rows = []
    for _, wanted, texts, _ in searches:
        places = [place for place, text in enumerate(texts[:10], start=1) if text in wanted]
        ideal = range(1, min(10, len(wanted)) + 1)
        row = (
            sum(place == 1 for place in places) / len(wanted),
            len(places) / len(wanted),
            1 / places[0] if places else 0.0,
            _discounted(places) / _discounted(ideal),
        )
        rows.append(row)
    return dict(zip(RETRIEVAL_METRICS, np.mean(rows, axis=0).tolist(), strict=True))


def _discounted(places: Collection[int]) -> float:
    return sum(1 / log2(place + 1) for place in places)


def search(groups: Sequence[Sequence[str]], vectors: Mapping[str, Array]) -> list[Searched]:
    """Find the ten texts of the largest cosine for each different query, among all different texts.

    groups: each a query and its texts, the first a match. A match in any group is relevant. vectors: of each text.
    """
    relevant: dict[str, list[str]] = {}
    for query, text in dict.fromkeys((query, text) for query, text, *_ in groups):
        relevant.setdefault(query, []).append(text)
    texts = list(dict.fromkeys(text for _, *others in groups for text in others))
    hits = semantic_search([vectors[query] for query in relevant], [vectors[text] for text in texts], top_k=10)
    return [
        Searched(query, own, [texts[hit.corpus_id] for hit in each], each[0].score)
        for (query, own), each in zip(relevant.items(), hits, strict=True)
    ]
