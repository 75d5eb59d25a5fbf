"""Embed: a vector for each sentence. similarity: compares vectors. semantic_search: finds the most similar ones."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array, matmul
from npbert.data import Batch, Text, Tokenizer
from npbert.inference.sentence_transformers import read_sentence_settings, write_sentence_settings
from npbert.inference.task import Task, check_finite
from npbert.io import InputError, at_least, one_of
from npbert.models import POOLINGS as OF_TOKENS, BertModel, PackedBatch, Reads, TextPooling

POOLINGS = (*OF_TOKENS, "pooler")
PRECISIONS = ("float32", "float16", "int8")

LARGEST_PIECE, QUERIES_AT_ONCE = 4096, 1024
"""The most vectors of the corpus and the most queries in one product: a search of a million vectors for thousands of
queries has 4 million scores in memory at a time."""


class Hit(NamedTuple):
    """A found vector of the corpus: its index, and its similarity to the query."""

    corpus_id: int
    score: float


class Embed(Task):
    """embed(texts) -> an array (N, D), a vector for each text; embed(text) -> (D,).

    pooling: how to pool the token vectors.
        `mean`, their mean                                `cls`, the vector of [CLS]
        `mean_sqrt_len_tokens`, their sum / √how many     `pooler`, that of [CLS] after the pooler, as heads read it
        `max`, the largest value in each column

    layer: the hidden state to pool, 0 (embeddings) to L, or −1 (the last) and so on; not for `pooler`.
    normalize: make every vector of length 1, so that a dot product is a cosine.
    similarity_fn_name: `cosine` or `dot`, the comparison in `similarity` and `semantic_search`.
    max_length: the most tokens of a text, as in Task.

    The defaults are those of the folder's sentence-transformers files (modules.json), or `mean`, not normalized, and
    `cosine`.

    Warns: of texts cut to `max_length`.
    Raises: ValueError for another pooling, or a layer with `pooler`; IndexError for a layer that the
    model does not have.
    """

    model_class = BertModel
    model: BertModel

    def __init__(
        self,
        model: BertModel,
        tokenizer: Tokenizer,
        *,
        pooling: str = "mean",
        layer: int = -1,
        normalize: bool = False,
        similarity_fn_name: str = "cosine",
        max_length: int | None = None,
    ) -> None:
        super().__init__(model, tokenizer, max_length=max_length)
        one_of(POOLINGS).check("pooling", pooling)
        self._number = model.layer_numbers([layer], what="layer")[layer]
        self._is_last = self._number == model.config.num_hidden_layers
        if pooling == "pooler" and not self._is_last:
            raise InputError("layer", layer, "-1: the pooler reads only the last")
        self.pooling, self.layer, self.normalize = pooling, layer, normalize
        self.similarity_fn_name = similarity_fn_name

    @classmethod
    def from_pretrained(cls, folder: str | Path, **options: Any) -> "Embed":
        """Return an Embed for the model and tokenizer in `folder`, used as by sentence-transformers. Options other than
        None override the folder. (Extra: hf.)

        Warns: of unsupported settings of the folder, if a pooling is given.
        Raises: as Task; FileError for unsupported settings, if no pooling is given.
        """
        options = {name: value for name, value in options.items() if value is not None}
        bert, stored = read_sentence_settings(folder, is_chosen="pooling" in options)
        options = {**stored, **options}
        # Only this pooling needs the pooler: the others also read checkpoints without one.
        of_model = {"new_head": False, "add_pooling_layer": options.get("pooling") == "pooler"}
        return super().from_pretrained(bert, of_model=of_model, **options)

    def save_pretrained(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the model, its tokenizer and all settings into `folder`, for the same vectors from from_pretrained and
        sentence-transformers.

        Raises: ValueError for the pooling `pooler`, or a layer other than the last, which sentence-transformers lacks;
        FileExistsError for a folder with another model or tokenizer, unless `overwrite`.
        """
        if self.pooling == "pooler" or not self._is_last:
            what = f"the pooling {self.pooling} of the layer {self.layer}"
            raise ValueError(
                f"{what} cannot be saved, as sentence-transformers pools only the last layer, without a pooler"
            )
        super().save_pretrained(folder, overwrite=overwrite)
        write_sentence_settings(Path(folder), self)

    def __call__(
        self, texts: str | Iterable[Text], *, batch_size: int | None = None, show_progress_bar: bool | None = None
    ) -> Array:
        """Return the vectors of the texts, in their order.

        batch_size: the most texts at once; by default as many as make 2048 tokens.
        show_progress_bar: True or False; by default on a terminal, from 256 texts on.

        Raises: TypeError for a value that is not a text; ValueError unless batch_size is at least 1.
        """
        if isinstance(texts, str):
            return self([texts])[0]
        vectors = self.run(
            self.tokenize(texts), self.outputs, batch_size=batch_size, show_progress_bar=show_progress_bar
        )
        dtype = self.model.parameters()[0].value.dtype
        return np.array(vectors, dtype).reshape(-1, self.model.config.hidden_size)

    encode = __call__  # sentence-transformers' name

    def similarity(self, a: Any, b: Any) -> Array:
        """Call the function `similarity` for a and b, each a text, several texts, or vectors (D,) or (N, D)."""
        return similarity(self._vectors(a), self._vectors(b), similarity_fn_name=self.similarity_fn_name)

    def semantic_search(self, queries: Any, corpus: Any, *, top_k: int = 5) -> list[list[Hit]]:
        """Call the function `semantic_search`, each argument a text, several texts, or vectors (D,) or (N, D).

        To search a corpus often, compute its vectors once."""
        return semantic_search(
            self._vectors(queries), self._vectors(corpus), top_k=top_k, similarity_fn_name=self.similarity_fn_name
        )

    def _vectors(self, given: Any) -> Any:
        """Return the vectors of texts; anything else unchanged."""
        if isinstance(given, str):
            given = [given]
        items = given if hasattr(given, "__array__") else list(given)
        is_text = np.asarray(list(items[:1])).dtype.kind == "U"
        return self(items) if is_text else items

    def outputs(self, batch: Batch) -> Array:
        """Return the vectors of a batch (B, D)."""
        only_first = self.pooling in ("cls", "pooler") and self._is_last
        packed = PackedBatch(batch, self.model.config, Reads("first" if only_first else "all"))
        h = self.model.encode(packed) if self._is_last else self.model.hidden_rows(packed, {self._number})[self._number]
        pool = self.model.pool if self.pooling == "pooler" else TextPooling(self.pooling)
        vectors = pool(h, packed)
        check_finite(vectors)
        return scaled(vectors) if self.normalize else vectors


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
    x / ‖x‖; a vector of zeros stays 0.

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

    An int8 vector loses its length, so a search in them needs cosines. precision: one of PRECISIONS."""
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
    best = [(np.empty(0), np.empty(0, int))] * len(queries)  # so far, of each query: scores, best first, and indices
    for start in range(0, len(corpus), LARGEST_PIECE):
        piece = corpus[start : start + LARGEST_PIECE]
        for first in range(0, len(queries), QUERIES_AT_ONCE):
            some = queries[first : first + QUERIES_AT_ONCE]
            scores = similarity(some, piece, similarity_fn_name=similarity_fn_name)
            for number, new in enumerate(scores, start=first):
                known, ids = best[number]
                candidates = np.flatnonzero(new >= known[-1]) if len(known) >= top_k else np.arange(len(new))
                known, ids = np.concatenate([known, new[candidates]]), np.concatenate([ids, candidates + start])
                order = np.argsort(-known, kind="stable")[:top_k]
                best[number] = known[order], ids[order]
    return [list(map(Hit, ids.tolist(), scores.tolist())) for scores, ids in best]


def _rows(vectors: Any, name: str) -> Array:
    """Return vectors as an array (N, D). Raises: ValueError with their name, unless they are numbers in this shape."""
    array = np.atleast_2d(np.asarray(vectors))
    if array.ndim != 2 or array.dtype.kind not in "iuf":
        raise ValueError(f"{name} is an array {array.shape} of {array.dtype}, wanted numbers in the shape (N, D)")
    return array if array.size else array[:0]
