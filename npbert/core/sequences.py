"""Sequences: which rows belong together, so that attention looks within a sequence and nowhere else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from npbert.compute.array import Array
from npbert.compute.blocks import BLOCK
from npbert.compute.threads import num_threads, run, slices
from npbert.core.checks import check_ids

SHARE = 8_000
"""Elements of a batch that are worth a thread: one with fewer would hardly have begun before another has done them."""


class Piece(NamedTuple):
    """Some heads of n neighbouring sequences, each with M rows that look and T rows that are looked at.

    query_rows, key_rows: where they are among all rows that look, and among all that are looked at.
    """

    n: int
    query_rows: slice
    key_rows: slice
    heads: slice
    num_heads: int

    def queries(self, x: Array) -> Array:
        """Of an array for the rows that look, the part of this piece: (M, D) -> (n, heads, M, d), a view."""
        return self._split(x[self.query_rows])

    def keys(self, z: Array) -> Array:
        """Of an array for the rows that are looked at, the part of this piece: (N, D) -> (n, heads, T, d), a view."""
        return self._split(z[self.key_rows])

    @property
    def scores_shape(self) -> tuple[int, int, int, int]:
        """The shape of its scores, (n, heads, M, T)."""
        m, t = ((rows.stop - rows.start) // self.n for rows in (self.query_rows, self.key_rows))
        return self.n, self.heads.stop - self.heads.start, m, t

    def _split(self, x: Array) -> Array:
        """(n·T, D) -> (n, T, H, d) -> (n, H, T, d) -> (n, heads, T, d)"""
        x = x.reshape(self.n, len(x) // self.n, self.num_heads, x.shape[1] // self.num_heads)
        return x.swapaxes(1, 2)[:, self.heads]


class _Part(NamedTuple):
    """Neighbouring sequences: their rows among all rows, which of the rows that are read are theirs, and themselves."""

    rows: slice
    read: slice
    sequences: Sequences


class Sequences:
    """A batch is N rows, one sequence after another. (The `cu_seqlens` of flash-attention are their running sum.)

    lengths (S,): how many rows each sequence has, at least 1. looking (S,): how many of them look at the others, where
    not all of them do.

    Neighbours of equal length are multiplied in one go, so sequences that are sorted by length are quicker; the result
    is the same in any order.

    Raises: ValueError for lengths that are not whole numbers of at least 1.
    """

    def __init__(self, lengths: Array, looking: Array | None = None) -> None:
        self.lengths = np.asarray(lengths)
        if self.lengths.ndim != 1 or self.lengths.dtype.kind not in "iu" or not (self.lengths > 0).all():
            raise ValueError(f"lengths are {lengths}, wanted a list of whole numbers of at least 1")
        self.looking = self.lengths if looking is None else looking
        self.num_rows, self.num_looking = int(self.lengths.sum()), int(self.looking.sum())

    @property
    def ends(self) -> Array:
        """Where each sequence ends: the number of the row after its last (S,)."""
        return np.cumsum(self.lengths)

    def only(self, read: Array) -> Sequences:
        """The same sequences when only the rows `read` (M,), in ascending order, look.

        Raises: TypeError for what is no array of integers, IndexError for a row that is not there, ValueError for rows
        in another order.
        """
        check_ids(read, self.num_rows, name="read", limit_name="the number of rows")
        if (read[1:] < read[:-1]).any():
            raise ValueError("the rows to read are not in ascending order")
        return Sequences(self.lengths, np.diff(np.searchsorted(read, self.ends), prepend=0))

    def pieces(self, num_heads: int) -> list[Piece]:
        """All heads of all sequences, in pieces of about BLOCK scores, which fit the processor's cache.

        Neighbours of equal length are in one piece. The pieces never depend on the number of threads.
        """
        pieces, query, key = [], 0, 0  # the first rows that belong to no piece yet
        for (m, t), equal in itertools.groupby(zip(self.looking.tolist(), self.lengths.tolist(), strict=True)):
            heads_at_once = max(1, BLOCK // max(1, m * t))
            heads_of_one = slices(num_heads, math.ceil(num_heads / heads_at_once))
            sequences_at_once = max(1, heads_at_once // num_heads)
            count = sum(1 for _ in equal)
            for first in range(0, count, sequences_at_once):
                n = min(sequences_at_once, count - first)
                rows = slice(query, query + n * m), slice(key, key + n * t)
                pieces += [Piece(n, *rows, heads, num_heads) for heads in heads_of_one]
                query, key = query + n * m, key + n * t
        return pieces

    def each(self, num_heads: int) -> list[Piece]:
        """Each sequence by itself, with all heads."""
        query_rows, key_rows = (
            itertools.starmap(slice, itertools.pairwise([0, *np.cumsum(counts).tolist()]))
            for counts in (self.looking, self.lengths)
        )
        return [Piece(1, *rows, slice(0, num_heads), num_heads) for rows in zip(query_rows, key_rows, strict=True)]

    def in_parts(
        self, compute: Callable[[Array, Sequences, Array | None], Array], x: Array, read: Array | None
    ) -> Array:
        """compute(x, self, read), where each thread takes some of the sequences: they know nothing of one another.

        x (N, D)   read (M,) rows in ascending order, or None for all   the result (M, D), or (N, D)
        """
        looking = self if read is None else self.only(read)
        parts = list(looking._parts(x.size))
        if len(parts) == 1:
            return compute(x, self, read)
        y = np.empty((looking.num_looking, *x.shape[1:]), x.dtype)

        def work(part: _Part) -> None:
            here = None if read is None else read[part.read].astype(np.intp) - part.rows.start
            y[part.read] = compute(x[part.rows], part.sequences, here)

        run(work, parts)
        return y

    def _parts(self, elements: int) -> Iterator[_Part]:
        """As many parts as there are threads, with about the same number of rows in each; fewer for a small batch."""
        count = max(1, min(num_threads(), len(self.lengths), elements // SHARE))
        starts, ends, read_ends = self.ends - self.lengths, self.ends, np.cumsum(self.looking)
        edges = np.searchsorted((starts + ends) / 2, [self.num_rows * i / count for i in range(count + 1)])
        for first, stop in itertools.pairwise(np.unique(edges).tolist()):
            rows = slice(int(starts[first]), int(ends[stop - 1]))
            read = slice(int(read_ends[first] - self.looking[first]), int(read_ends[stop - 1]))
            yield _Part(rows, read, Sequences(self.lengths[first:stop]))

    def __repr__(self) -> str:
        return f"Sequences(lengths={self.lengths.tolist()})"
