"""Attention in pieces: the scores of a few heads of a few sequences at a time fit the processor's cache."""

import itertools
import math
from typing import NamedTuple

from npbert.compute.array import Array
from npbert.compute.rowwise import BLOCK
from npbert.compute.threads import slices


class Piece(NamedTuple):
    """Some heads of n neighbouring sequences, each with R queries and T keys.

    query_rows, key_rows: where they are among the rows of all queries, and of all keys.
    """

    n: int
    query_rows: slice
    key_rows: slice
    heads: slice
    num_heads: int

    def queries(self, x: Array) -> Array:
        """The part of this piece in an array for all queries: (M, D) -> (n, heads, R, d), a view."""
        return self._split(x[self.query_rows])

    def keys(self, z: Array) -> Array:
        """The part of this piece in an array for all keys, or all values: (N, D) -> (n, heads, T, d), a view."""
        return self._split(z[self.key_rows])

    @property
    def scores_shape(self) -> tuple[int, int, int, int]:
        """The shape of its scores, (n, heads, R, T)."""
        r, t = ((rows.stop - rows.start) // self.n for rows in (self.query_rows, self.key_rows))
        return self.n, self.heads.stop - self.heads.start, r, t

    def _split(self, x: Array) -> Array:
        """(n·T, D) -> (n, T, H, d) -> (n, H, T, d) -> (n, heads, T, d)"""
        x = x.reshape(self.n, len(x) // self.n, self.num_heads, x.shape[1] // self.num_heads)
        return x.swapaxes(1, 2)[:, self.heads]


def attention_pieces(query_lengths: Array, lengths: Array, num_heads: int) -> list[Piece]:
    """All heads of all sequences, in pieces of about BLOCK scores.

    query_lengths, lengths (S,): how many queries and how many keys each sequence has.

    Neighbours of equal length are in one piece. The pieces never depend on the number of threads.
    """
    pieces, query, key = [], 0, 0  # the first rows that belong to no piece yet
    for (r, t), equal in itertools.groupby(zip(query_lengths.tolist(), lengths.tolist(), strict=True)):
        heads_at_once = max(1, BLOCK // max(1, r * t))
        heads_of_one = slices(num_heads, math.ceil(num_heads / heads_at_once))
        sequences_at_once = max(1, heads_at_once // num_heads)
        count = sum(1 for _ in equal)
        for first in range(0, count, sequences_at_once):
            n = min(sequences_at_once, count - first)
            rows = slice(query, query + n * r), slice(key, key + n * t)
            pieces += [Piece(n, *rows, heads, num_heads) for heads in heads_of_one]
            query, key = query + n * r, key + n * t
    return pieces
