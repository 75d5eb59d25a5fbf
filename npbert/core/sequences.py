"""Sequences: the rows of each sequence, so that attention stays within it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from npbert.compute import Array
from npbert.core.checks import check_ids


class Sequences:
    """N rows, one sequence after another.

    lengths (S,): the rows of each sequence, at least 1, all of them keys and values; num_rows is their sum N.
    query_lengths (S,): its queries, by default one for each row; num_queries is their sum M.
    offsets (S + 1,): the first row of each sequence, and last N (`cu_seqlens` in flash-attention).
    positions (N,), query_positions (M,): the place of each row, and of each query, in its sequence, from 0.

    Attention is faster if sequences of equal length are neighbors. The result does not depend on the order.

    Raises: ValueError for lengths that are not whole numbers of at least 1.
    """

    def __init__(
        self,
        lengths: Array | Sequence[int],
        query_lengths: Array | Sequence[int] | None = None,
        query_positions: Array | None = None,
    ) -> None:
        self.lengths = np.asarray(lengths)
        if self.lengths.ndim != 1 or self.lengths.dtype.kind not in "iu" or not (self.lengths > 0).all():
            raise ValueError(f"lengths are {lengths}, wanted a list of whole numbers of at least 1")
        self.query_lengths = self.lengths if query_lengths is None else np.asarray(query_lengths)
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        self.num_rows, self.num_queries = int(self.lengths.sum()), int(self.query_lengths.sum())
        self.query_positions = _places(self.query_lengths) if query_positions is None else query_positions

    def only(self, read: Array) -> Sequences:
        """Return the same sequences with only the rows `read` (M,), in ascending order, as queries.

        Raises: TypeError unless they are integers; IndexError for a row outside 0 to N − 1; ValueError for another
        order."""
        check_ids(read, self.num_rows, name="read", limit_name="the number of rows")
        if (read[1:] < read[:-1]).any():
            raise ValueError("read is not in ascending order")
        return Sequences(self.lengths, np.diff(np.searchsorted(read, self.offsets)), self.positions[read])

    @cached_property
    def positions(self) -> Array:
        return _places(self.lengths)

    def __repr__(self) -> str:
        return f"Sequences(lengths={self.lengths.tolist()})"


def _places(lengths: Array) -> Array:
    """Return 0, 1, 2, … for each of the lengths."""
    return np.concatenate([np.arange(length) for length in lengths])
