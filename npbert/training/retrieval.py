"""Retrieval: metrics of a search. Every score is between 0 and 1, and higher is better."""

from collections.abc import Collection, Sequence
from math import log2

from npbert.compute import Array
from npbert.inference.search import Hits, semantic_search

RETRIEVAL_METRICS = ("recall_at_1", "recall_at_10", "mrr_at_10", "ndcg_at_10")


def retrieval_scores(found: Sequence[Sequence[int]], relevant: Sequence[Collection[int]]) -> dict[str, float]:
    """Return the mean over the queries of each of RETRIEVAL_METRICS.

    found: for each query the indices of the found texts, best first; only ten count.
    relevant: for each query the indices of the matching texts, at least one.

    recall_at_k: the share of the relevant texts that are among the first k
    mrr_at_10: 1 / the place of the first relevant text; 0 where none is among ten
    ndcg_at_10: Σ 1 / log₂(place + 1) over the relevant texts that are found, as a share of the largest possible
    (Järvelin & Kekäläinen 2002 for the last; InformationRetrievalEvaluator in sentence-transformers has the same.)

    Raises: ValueError for lists of different lengths.
    """
    totals = dict.fromkeys(RETRIEVAL_METRICS, 0.0)
    for numbers, wanted in zip(found, relevant, strict=True):
        places = [place for place, number in enumerate(numbers[:10], start=1) if number in wanted]
        ideal = range(1, min(10, len(wanted)) + 1)
        scores = (
            sum(place == 1 for place in places) / len(wanted),
            len(places) / len(wanted),
            1 / places[0] if places else 0.0,
            _discounted(places) / _discounted(ideal),
        )
        for name, score in zip(RETRIEVAL_METRICS, scores, strict=True):
            totals[name] += score
    return {name: total / len(found) for name, total in totals.items()}


def _discounted(places: Collection[int]) -> float:
    return sum(1 / log2(place + 1) for place in places)


class Library:
    """The distinct texts of some groups: the queries, first in each group, and all others, to search in.

    groups: each a query and its texts, the first of which matches.
    relevant: for each query the indices of its matching texts, in any group.
    """

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        self.queries: dict[str, int] = {}
        self.texts: dict[str, int] = {}
        self.relevant: list[set[int]] = []
        self._first: dict[str, list[tuple[int, int]]] = {"queries": [], "texts": []}
        for number, (query, *texts) in enumerate(groups):
            if query not in self.queries:
                self.queries[query] = len(self.queries)
                self.relevant.append(set())
                self._first["queries"].append((number, 0))
            for column, text in enumerate(texts, start=1):
                if text not in self.texts:
                    self.texts[text] = len(self.texts)
                    self._first["texts"].append((number, column))
            self.relevant[self.queries[query]].add(self.texts[texts[0]])

    def search(self, vectors: Sequence[Array], *, top_k: int = 10) -> Hits:
        """Return the most similar texts for each query, by the cosine. vectors: of each group (C, D)."""
        queries, texts = ([vectors[n][column] for n, column in self._first[what]] for what in ("queries", "texts"))
        return semantic_search(queries, texts, top_k=top_k)
