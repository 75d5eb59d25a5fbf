"""Attention in pieces: the scores of a few heads of a few sequences fit the processor's cache."""

import itertools
import math
from typing import NamedTuple

import numpy as np

from npbert.compute.array import Array
from npbert.compute.rowwise import BLOCK
from npbert.compute.threads import slices

NARROWEST = 32
"""The least number of positions in a band."""

LONG = 1024
"""A sequence with more keys is long: it has more scores than there may be room for, so they are not kept."""

BAND = 256
"""Queries of a band of a long sequence, at most: for each band BLAS copies all keys."""


class Piece(NamedTuple):
    """Some heads of n neighbouring sequences, each with R queries and T keys.

    query_rows, key_rows: their slices of the rows of all queries, and of all keys.
    """

    n: int
    query_rows: slice
    key_rows: slice
    heads: slice
    num_heads: int

    def queries(self, x: Array) -> Array:
        """Return this piece's view of an array for all queries: (M, D) -> (n, heads, R, d)."""
        return self._split(x[self.query_rows])

    def keys(self, z: Array) -> Array:
        """Return this piece's view of an array for all keys or values: (N, D) -> (n, heads, T, d)."""
        return self._split(z[self.key_rows])

    @property
    def is_long(self) -> bool:
        """True for a band of a long sequence, whose scores are too many to be kept."""
        return (self.key_rows.stop - self.key_rows.start) // self.n > LONG

    @property
    def scores_shape(self) -> tuple[int, int, int, int]:
        """Return the shape of its scores, (n, heads, R, T)."""
        r, t = ((rows.stop - rows.start) // self.n for rows in (self.query_rows, self.key_rows))
        return self.n, self.heads.stop - self.heads.start, r, t

    def distances(self, query_positions: Array, positions: Array) -> Array:
        """Return the distance of each key behind each query (n, R, T), from the positions of all queries and keys."""
        queries = query_positions[self.query_rows].reshape(self.n, -1, 1)
        return positions[self.key_rows].reshape(self.n, 1, -1) - queries

    def _split(self, x: Array) -> Array:
        """(n·T, D) -> (n, T, H, d) -> (n, H, T, d) -> (n, heads, T, d)"""
        x = x.reshape(self.n, len(x) // self.n, self.num_heads, x.shape[1] // self.num_heads)
        return x.swapaxes(1, 2)[:, self.heads]


def attention_pieces(
    query_lengths: Array,
    lengths: Array,
    num_heads: int,
    *,
    reach: int | None = None,
    query_positions: Array | None = None,
) -> list[Piece]:
    """Return all heads of all sequences, in pieces of about BLOCK scores.

    query_lengths, lengths (S,): the numbers of queries and of keys of each sequence.
    reach: the largest distance from a query to a key; it needs `query_positions` (M,). A longer sequence is cut into
    bands of neighboring queries with the keys in reach, so the cost is linear in its length. Without a reach, a band of
    a long sequence has all keys.

    Neighboring sequences of equal length share a piece. The pieces do not depend on the number of threads.
    """
    pieces, query, key = [], 0, 0  # the first rows without a piece
    for (r, t), equal in itertools.groupby(zip(query_lengths.tolist(), lengths.tolist(), strict=True)):
        for _ in equal if t > (LONG if reach is None else reach + 1) else ():
            if reach is None or query_positions is None:
                pieces += _bands_with_all_keys(query, r, key, t, num_heads)
            else:
                pieces += _bands(query, query_positions[query : query + r], key, t, num_heads, reach)
            query, key = query + r, key + t
        sequences_at_once = max(1, BLOCK // max(1, r * t) // num_heads)
        count = sum(1 for _ in equal)  # of those that are not cut
        for first in range(0, count, sequences_at_once):
            n = min(sequences_at_once, count - first)
            rows = slice(query, query + n * r), slice(key, key + n * t)
            pieces += [Piece(n, *rows, heads, num_heads) for heads in _heads_at_once(num_heads, r * t)]
            query, key = query + n * r, key + n * t
    return pieces


def _heads_at_once(num_heads: int, scores: int) -> list[slice]:
    """Return the heads of each piece, for this number of scores in one head."""
    return slices(num_heads, math.ceil(num_heads / max(1, BLOCK // max(1, scores))))


def _bands_with_all_keys(query: int, r: int, key: int, t: int, num_heads: int) -> list[Piece]:
    """Return the bands of one long sequence, head by head. query, key: its first rows   r, t: their numbers."""
    bands, heads = slices(r, math.ceil(r / BAND)), slices(num_heads, num_heads)
    rows = [(slice(query + band.start, query + band.stop), slice(key, key + t)) for band in bands]
    return [Piece(1, *band, head, num_heads) for head in heads for band in rows]


def _bands(query: int, positions: Array, key: int, t: int, num_heads: int, reach: int) -> list[Piece]:
    """Yield the bands of one sequence, head by head. query, key: its first rows. positions (r,): of its queries."""
    width = max(NARROWEST, reach)  # in positions: narrower bands waste fewer scores, wider bands run faster
    edges = np.searchsorted(positions, np.arange(0, t + width, width)).tolist()
    rows = []
    for band, (first, last) in enumerate(itertools.pairwise(edges)):
        if first < last:
            keys = slice(key + max(0, band * width - reach), key + min(t, (band + 1) * width + reach))
            rows.append((slice(query + first, query + last), keys))
    return [
        Piece(1, *band, heads, num_heads) for heads in _heads_at_once(num_heads, width * 3 * width) for band in rows
    ]


def strands(pieces: list[Piece]) -> list[list[int]]:
    """Return the indices of the pieces, grouped by overlapping keys: a group runs on one thread, in order."""
    found: list[list[int]] = []
    for number, piece in enumerate(pieces):
        before = pieces[number - 1] if number else piece
        if (
            number
            and piece.heads == before.heads
            and before.key_rows.start <= piece.key_rows.start < before.key_rows.stop
        ):
            found[-1].append(number)
        else:
            found.append([number])
    return found
