"""Scatter: rows are added to the rows of a table, some of them several times."""

from __future__ import annotations

import itertools

import numpy as np

from npbert.layers.parameter import Array, rows


def add_rows(table: Array, ids: Array, y: Array) -> None:
    """table[ids[n]] += y[n] for every n; `table[ids] += y` would keep only the last of those with the same id.

    table (R, D)   ids (...)   y (..., D)

    What goes to one row is brought together by sorting, and added at once: several times as fast as `np.add.at`.
    """
    ids = ids.reshape(-1)
    order = np.argsort(ids, kind="stable")
    ids, y = ids[order], rows(y)[order]
    starts = np.flatnonzero(np.diff(ids, prepend=-1)).tolist()
    for start, stop in itertools.pairwise([*starts, len(ids)]):
        table[ids[start]] += y[start] if stop == start + 1 else y[start:stop].sum(axis=0)
