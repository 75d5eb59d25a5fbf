"""Cuts a batch into parts, between its sequences, and attention into pieces: the scores of a few heads of a few
sequences fit the processor's cache. Each cut depends on sizes alone, so the number of threads or processes changes no
bit."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from npbert.compute.array import Array
from npbert.compute.rowwise import BLOCK
from npbert.compute.threads import slices

PARTS = (2, 4)
"""The possible numbers of parts, other than one: on two threads, three parts take as long as four."""

KEPT = 16
"""The numbers that a layer keeps for backward, for each of the D numbers of a row."""

SPARE = 2**23
"""The size of the gradients allowed above that of the kept values: 32 MiB in float32."""

FEW = 2**13
"""Two parts need a hidden state of 8 times this size, four parts of 64 times; below, they cost more than they save."""

ROWS = 128
"""The least rows of a part in inference: for fewer, BLAS spends more time to pack the weights than a part saves."""

LARGEST = 400_000
"""The largest hidden state of a part in bounded memory: a larger one is not faster."""

NARROWEST = 32
"""The least number of positions in a band."""

LONG = 1024
"""A sequence with more keys is long: it has more scores than there may be room for, so they are not kept."""

BAND = 256
"""The number of positions in a band without a reach: for each band BLAS copies all keys."""


def training_parts(rows: int, layers: int, width: int, parameters: int) -> int:
    """Return the number of parts of a batch in training: 1, 2 or 4.

    Each part has a separate gradient, and products of fewer rows are slower. So all gradients together may take little
    more memory than the kept values, and four parts need far more rows than two.

    rows: the real tokens of the batch   layers, width, parameters: of the model, with D as width
    """
    room = KEPT * rows * layers * width + SPARE
    return max([1, *(n for n in PARTS if n * parameters <= room and n**3 * FEW <= rows * width)])


def bounded_parts(rows: int, width: int) -> int:
    """Return the number of parts of a batch in bounded memory: enough to make none of them large."""
    return math.ceil(rows * width / LARGEST)


def inference_parts(rows: int, width: int) -> int:
    """Return the number of parts of a batch in inference: 1, 2 or 4, or more if these are too large."""
    return max([1, *(n for n in PARTS if n * ROWS <= rows), bounded_parts(rows, width)])


def neighbours(lengths: Array, count: int) -> list[slice]:
    """Return at most `count` slices of neighboring sequences, with about the same number of rows.

    lengths (S,): the rows of each sequence. A sequence is never cut: its middle decides its part.
    """
    ends = np.cumsum(lengths)
    middles = ends - np.asarray(lengths) / 2
    edges = np.unique(np.searchsorted(middles, [ends[-1] * part / count for part in range(count + 1)]))
    return [slice(*pair) for pair in itertools.pairwise(edges.tolist())]


class Piece(NamedTuple):
    """Some heads of n neighboring sequences, each with R queries and T keys.

    query_rows, key_rows: their slices of the rows of all queries, and of all keys.
    strand: a number that pieces with common keys have in common: in backward one thread takes them, in order.
    given: further arguments of the layer's formula, as in DistanceAttention.
    """

    n: int
    query_rows: slice
    key_rows: slice
    heads: slice
    num_heads: int
    strand: int
    given: dict[str, Any]

    def queries(self, x: Array) -> Array:
        """Return this piece's view of an array for all queries: (M, D) -> (n, heads, R, d)."""
        return self._split(x[self.query_rows])

    def keys(self, z: Array) -> Array:
        """Return this piece's view of an array for all keys or values: (N, D) -> (n, heads, T, d)."""
        return self._split(z[self.key_rows])

    @property
    def scores_shape(self) -> tuple[int, int, int, int]:
        """Return the shape of its scores, (n, heads, R, T)."""
        r, t = ((rows.stop - rows.start) // self.n for rows in (self.query_rows, self.key_rows))
        return self.n, self.heads.stop - self.heads.start, r, t

    @property
    def is_long(self) -> bool:
        """True for a band of a long sequence, whose scores are too many to be kept."""
        return self.scores_shape[-1] > LONG

    def distances(self, query_positions: Array, positions: Array) -> Array:
        """Return the distance of each key behind each query (n, R, T), from the positions of all queries and keys."""
        queries = query_positions[self.query_rows].reshape(self.n, -1, 1)
        return positions[self.key_rows].reshape(self.n, 1, -1) - queries

    def _split(self, x: Array) -> Array:
        """(n·T, D) -> (n, T, H, d) -> (n, H, T, d) -> (n, heads, T, d)"""
        x = x.reshape(self.n, len(x) // self.n, self.num_heads, x.shape[1] // self.num_heads)
        return x.swapaxes(1, 2)[:, self.heads]


def attention_pieces(sequences: Any, num_heads: int, *, reach: int | None = None, whole: bool = False) -> list[Piece]:
    """Return all heads of all sequences, in pieces of about BLOCK scores.

    sequences: `npbert.core.Sequences`, with query_positions that ascend in each sequence.
    reach: the largest distance from a query to a key; None: no limit. A long sequence, or one longer than the reach, is
    cut into bands of neighboring queries with the keys in reach, so that with a reach the cost is linear in its length.

    whole: True for one piece for each sequence, with all heads.

    Neighboring sequences of equal length share a piece. The pieces do not depend on the number of threads.
    """
    pieces: list[Piece] = []
    query, key = 0, 0  # the first rows without a piece
    lengths = zip(sequences.query_lengths.tolist(), sequences.lengths.tolist(), strict=True)
    for (r, t), equal in itertools.groupby(lengths):
        is_cut = not whole and t > (LONG if reach is None else reach + 1)
        sequences_at_once = 1 if is_cut or whole else max(1, BLOCK // max(1, r * t) // num_heads)
        left = len(list(equal))
        while left:
            n = min(sequences_at_once, left)
            bands, scores = [(slice(query, query + n * r), slice(key, key + n * t))], r * t
            if is_cut:
                # In positions. With a reach, narrower bands waste fewer scores, and wider ones run faster.
                width, within = (BAND, max(r, t)) if reach is None else (max(NARROWEST, reach), reach)
                positions = np.arange(r) if reach is None else sequences.query_positions[query : query + r]
                bands = _bands(query, positions, key, t, width, within)
                scores = width * min(t, width + 2 * within)
            heads_at_once = num_heads if whole else max(1, BLOCK // max(1, scores))
            for heads in slices(num_heads, math.ceil(num_heads / heads_at_once)):
                pieces += [Piece(n, *rows, heads, num_heads, len(pieces), {}) for rows in bands]
            query, key, left = query + n * r, key + n * t, left - n
    return pieces


def _bands(query: int, positions: Array, key: int, t: int, width: int, reach: int) -> list[tuple[slice, slice]]:
    """Return the rows of the queries and of the keys of each band. query, key: the first rows of the sequence, with t
    keys. positions (r,): of its queries."""
    starts = np.arange(0, positions.max(initial=0) + 1, width)
    edges = [*np.searchsorted(positions, starts).tolist(), len(positions)]
    bands = []
    for start, (first, last) in zip(starts.tolist(), itertools.pairwise(edges), strict=True):
        if first < last:
            keys = slice(key + max(0, start - reach), key + min(t, start + width + reach))
            bands.append((slice(query + first, query + last), keys))
    return bands


def strands(pieces: list[Piece]) -> list[list[int]]:
    """Return the indices of the pieces, by their strands."""
    groups = itertools.groupby(range(len(pieces)), lambda number: pieces[number].strand)
    return [list(group) for _, group in groups]
