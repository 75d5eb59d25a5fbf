"""similarity: compares vectors. semantic_search: finds the most similar ones."""

from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array, matmul
from npbert.io import at_least, one_of

PRECISIONS = ("float32", "float16", "int8")

LARGEST_PIECE, QUERIES_AT_ONCE = 4096, 1024
"""The most vectors of the corpus and the most queries in one product: a search of a million vectors for thousands of
queries has 4 million scores in memory at a time."""


class Hit(NamedTuple):
    """A found vector of the corpus: its index, and its similarity to the query."""

    corpus_id: int
    score: float


def similarity(a: Any, b: Any, *, similarity_fn_name: str = "cosine") -> Array:
    """Return the similarity of every vector of a to every vector of b.

    a (N, D)   b (M, D)   the result (N, M); one vector (D,) counts as (1, D)

    similarity_fn_name: `cosine`, the cosine of the angle, 0 if a vector is 0; or `dot`, the dot product, equal to the
    cosine for vectors of length 1.

    Raises: ValueError for another name, unless the arrays are numbers of these shapes, or if a vector or a product is
    not finite.
    """
    a, b = _rows(a, "a"), _rows(b, "b")
    dtype = np.result_type(a, b, np.float32)
    if not (len(a) and len(b)):
        return np.empty((len(a), len(b)), dtype)
    return matmul(scaled(a, similarity_fn_name, dtype), scaled(b, similarity_fn_name, dtype).T)


def scaled(vectors: Array, similarity_fn_name: str = "cosine", dtype: Any = None) -> Array:
    """Return vectors (N, D) as numbers of the dtype, scaled so that dot products are the similarities: for `cosine`
    x / |x|; a vector of zeros stays 0.

    Raises: ValueError for a vector that is not finite or too long, or an unknown similarity.
    """
    one_of(("cosine", "dot")).check("similarity_fn_name", similarity_fn_name)
    x = vectors.astype(dtype or vectors.dtype, copy=False)
    lengths = np.sqrt(np.einsum("nd,nd->n", x, x, dtype=np.float64))[:, None]  # no square of a small number is 0
    if not (lengths < np.sqrt(np.finfo(x.dtype).max)).all():
        raise ValueError("a vector is not finite, or too long for a product")
    return (x / np.where(lengths == 0, 1, lengths)).astype(x.dtype) if similarity_fn_name == "cosine" else x


def at_precision(vectors: Array, precision: str) -> Array:
    """Return the vectors (N, D) in less memory: as `float16`, or as `int8`, with ±127 as the largest number of each.

    An int8 vector loses its length, so a search in them needs cosines. Raises: InputError for another precision."""
    one_of(PRECISIONS).check("precision", precision)
    if precision != "int8":
        return vectors.astype(precision, copy=False)
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    return np.rint(vectors * (127 / np.where(largest == 0, 1, largest))).astype(np.int8)


def semantic_search(
    query_embeddings: Any, corpus_embeddings: Any, *, top_k: int = 5, similarity_fn_name: str = "cosine"
) -> list[list[Hit]]:
    """Return the `top_k` vectors of the corpus most similar to each query, best first; all of a smaller corpus.

    query_embeddings (N, D)   corpus_embeddings (M, D)   the result: N lists of hits; one vector (D,) counts as (1, D)

    For equal scores the lower index comes first. The corpus is searched in pieces, so the (N, M) scores are never all
    in memory. similarity_fn_name: as for `similarity`.

    Raises: as `similarity`; ValueError unless top_k is at least 1.
    """
    at_least(1).check("top_k", top_k)
    queries, corpus = _rows(query_embeddings, "query_embeddings"), _rows(corpus_embeddings, "corpus_embeddings")
    best = [(np.empty(0), np.empty(0, int))] * len(queries)
    for start in range(0, len(corpus), LARGEST_PIECE):
        piece = corpus[start : start + LARGEST_PIECE]
        for first in range(0, len(queries), QUERIES_AT_ONCE):
            some = queries[first : first + QUERIES_AT_ONCE]
            scores = similarity(some, piece, similarity_fn_name=similarity_fn_name)
            for number, row in enumerate(scores, start=first):
                best[number] = _best(*best[number], row, start, top_k)
    return [list(map(Hit, ids.tolist(), scores.tolist())) for scores, ids in best]


def _best(scores: Array, ids: Array, new: Array, first: int, top_k: int) -> tuple[Array, Array]:
    """Return the `top_k` highest of the scores so far and the new ones, best first, with their indices; the lower index
    first for equal scores.

    scores, ids: so far, best first   new: the scores of the indices from `first` on
    """
    candidates = np.flatnonzero(new >= scores[-1]) if len(scores) >= top_k else np.arange(len(new))
    scores, ids = np.concatenate([scores, new[candidates]]), np.concatenate([ids, candidates + first])
    order = np.argsort(-scores, kind="stable")[:top_k]
    return scores[order], ids[order]


def _rows(vectors: Any, name: str) -> Array:
    """Return vectors as an array (N, D). Raises: ValueError with their name, unless they are numbers in this shape."""
    array = np.atleast_2d(np.asarray(vectors))
    if array.ndim != 2 or array.dtype.kind not in "iuf":
        raise ValueError(f"{name} is an array {array.shape} of {array.dtype}, wanted numbers in the shape (N, D)")
    return array if array.size else array[:0]
