"""semantic_search: of many vectors, those that are most similar to some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array, matmul
from npbert.inference.similarities import for_products, same_kind

SCORES_AT_ONCE = 4_000_000
"""How many scores a search holds at a time, so that a million vectors can be searched for thousands of queries."""

LARGEST_PIECE = 16_384
"""How many vectors of the corpus a search looks at in one go."""


class Hit(NamedTuple):
    """A vector of the corpus that was found: its number, from 0, and how similar it is to the query."""

    corpus_id: int
    score: float


def semantic_search(
    query_embeddings: Any, corpus_embeddings: Any, *, top_k: int = 5, similarity_fn_name: str = "cosine"
) -> list[list[Hit]]:
    """For each query the `top_k` vectors of the corpus that are most similar to it, best first; all of a smaller one.

    query_embeddings (N, D)   corpus_embeddings (M, D)   the result: N lists of hits; one vector (D,) counts as (1, D)

    Of equals the one with the lower number comes first. The corpus is gone through in pieces, so the (N, M) scores are
    never in memory all at once. similarity_fn_name: as for `similarity`.

    Raises: as `similarity`; ValueError unless top_k is at least 1.
    """
    if top_k < 1:
        raise ValueError(f"top_k is {top_k}, wanted at least 1")
    queries, corpus = same_kind(query_embeddings, corpus_embeddings, ("query_embeddings", "corpus_embeddings"))
    queries = for_products(queries, similarity_fn_name, "query_embeddings")
    top_k = min(top_k, len(corpus))
    scores = np.full((len(queries), top_k), -np.inf, queries.dtype)
    ids = np.full((len(queries), top_k), len(corpus))
    for piece in _pieces(len(corpus), top_k):
        vectors = for_products(corpus[piece], similarity_fn_name, "corpus_embeddings", first=piece.start)
        at_once = max(1, SCORES_AT_ONCE // len(vectors))
        for start in range(0, len(queries), at_once):
            some = slice(start, start + at_once)
            scores[some], ids[some] = _best(scores[some], ids[some], matmul(queries[some], vectors.T), piece.start)
    return [list(map(Hit, *row)) for row in zip(ids.tolist(), scores.tolist(), strict=True)]


def _pieces(total: int, first: int) -> Iterator[slice]:
    """Slices of the corpus, each of which is twice as large as the one before: in a small one most vectors are better
    than those found so far, and must be sorted in, but in a large one hardly any."""
    start, size = 0, first
    while start < total:
        yield slice(start, min(start + size, total))
        start, size = start + size, max(first, min(2 * size, LARGEST_PIECE))


def _best(scores: Array, ids: Array, new: Array, first: int) -> tuple[Array, Array]:
    """The best of `scores` (N, K), which have the numbers `ids`, and of `new` (N, M), whose numbers begin at `first`:
    scores and numbers (N, K), best first. `scores` are best first, too."""
    count, top_k = scores.shape
    rows, columns = np.nonzero(new > scores[:, -1:])  # of equals the earlier one stays
    all_rows = np.concatenate([np.repeat(np.arange(count), top_k), rows])
    all_scores = np.concatenate([scores.ravel(), new[rows, columns]])
    all_ids = np.concatenate([ids.ravel(), columns + first])
    order = np.lexsort((all_ids, -all_scores, all_rows))  # by query, then by score, then by number
    starts = np.searchsorted(all_rows[order], np.arange(count))
    chosen = order[starts[:, None] + np.arange(top_k)]
    return all_scores[chosen], all_ids[chosen]
