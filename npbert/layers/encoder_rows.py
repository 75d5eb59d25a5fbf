"""EncoderRows: which rows of a batch an encoder computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from npbert.layers.checks import check_ids, check_mask
from npbert.layers.grid import Grid
from npbert.layers.parameter import Array
from npbert.layers.scatter import add_rows

Part = TypeVar("Part")


class EncoderRows:
    """The rows of a batch (B, T, D) that matter, when of its result only the flat positions `read` (M,) are wanted.

    A padded position is attended to by nobody (but in a sequence that is all padding): it is left out, unless it is
    itself read. In the last layer only what is read needs a query. Without `read` every row is computed.

    grid: where the rows stand; None for all.   attention_mask: None when nothing is padding.
    queries: which rows are read, each once, in order; None for all.

    Raises: IndexError for a position outside the batch, and what check_mask raises.
    """

    def __init__(self, shape: tuple[int, int, int], attention_mask: Array | None, read: Array | None) -> None:
        if attention_mask is not None:
            check_mask(attention_mask, shape[:2])
            attention_mask = None if attention_mask.all() else attention_mask
        self.shape, self.attention_mask = shape, attention_mask
        self.grid: Grid | None = None
        self.queries: Array | None = None
        if read is None:
            return
        check_ids(read, shape[0] * shape[1], name="read", limit_name="the number of positions")
        positions, self.query_of = np.unique(read, return_inverse=True)
        self.queries = positions
        if attention_mask is not None:
            is_real = attention_mask != 0
            is_needed = is_real | ~is_real.any(axis=1, keepdims=True)
            is_needed.flat[positions] = True  # also where the mask is laid out column by column
            places = np.flatnonzero(is_needed)
            self.grid, self.queries = Grid(shape[:2], places), np.searchsorted(places, positions)

    def input(self, x: Array) -> Array:
        """x (B, T, D) -> (N, D), or as it is when all rows are computed."""
        return x if self.grid is None else self.grid.collect(x)

    def dinput(self, dh: Array) -> Array:
        """The backward of `input`."""
        return dh if self.grid is None else self.grid.spread(dh)

    def of_layers(self, layers: Sequence[Part]) -> Iterator[tuple[Part, Array | None]]:
        """Each layer with its queries: in the last those that are read, before it all, as the next layer reads all."""
        for number, layer in enumerate(layers, start=1):
            yield layer, self.queries if number == len(layers) else None

    def output(self, h: Array) -> Array:
        """What the last layer computed -> (B, T, D), or the (M, D) that are read."""
        return h if self.queries is None else h[self.query_of]

    def doutput(self, dy: Array) -> Array:
        """The backward of `output`: a vector that is read several times collects several gradients."""
        if self.queries is None:
            return dy
        dh = np.zeros((len(self.queries), dy.shape[-1]), dy.dtype)
        add_rows(dh, self.query_of, dy)
        return dh
