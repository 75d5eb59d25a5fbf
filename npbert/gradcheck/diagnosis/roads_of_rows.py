"""Formulas in which rows add up: a table that is read by numbers, and a product xᵀ dy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.formula import Formula, Roads, Surroundings

_MOST_ONES = 500  # numbers in a onehot that stands for what is read
_MOST_ROWS = 12  # that are told one by one


def of_reading(right: Array, around: Surroundings) -> Iterator[Formula]:
    """Rows that are read by their numbers: what the last that read a row brings back, and what those before it do."""
    dy = around.dy
    for ids in around.ids:
        is_one_row_each = dy.shape == (*ids.shape, *right.shape[1:]) and right.ndim > 1
        if not is_one_row_each or ids.size == 0 or ids.min() < 0 or ids.max() >= len(right):
            continue
        flat, rows = ids.ravel(), dy.reshape(ids.size, *right.shape[1:])
        first, last, total, in_order, in_reverse = (np.zeros_like(right) for _ in range(5))
        last[flat], first[flat[::-1]] = rows, rows[::-1]  # of a number that is there twice, NumPy keeps the last
        np.add.at(total, flat, rows)
        np.add.at(in_order, np.sort(flat), rows)
        np.add.at(in_reverse, flat, rows[::-1])
        largest = np.full_like(right, -np.inf)
        np.maximum.at(largest, flat, rows)
        largest[~np.isin(np.arange(len(right)), flat)] = 0
        times = 1.0 * np.bincount(flat, minlength=len(right)).reshape(-1, *[1] * (right.ndim - 1))
        roads = {
            "the rows that are read once": np.where(times == 1, total, 0),
            "of the others, the first time": np.where(times > 1, first, 0),
            "the last time": np.where(times > 1, last, 0),
            "the times between": np.where(times > 2, total - first - last, 0),
        }
        mistakes = {
            "only the last time counts that a row is read": last,
            "only the first time counts that a row is read": first,
            "the numbers of the rows are sorted first": in_order,
            "the times that a row is read are averaged, and not added": total / np.maximum(times, 1),
            "the rows of dy are taken in the reverse order": in_reverse,
            "of the times that a row is read, the largest number counts, and no sum is taken": largest,
            "of these times, the largest number counts, and no sum is taken; and what is negative is 0": np.maximum(
                largest, 0
            ),
            "each row gets the mean of all its numbers of dy, as .mean() gives it without an axis": np.broadcast_to(
                total.mean(axis=-1, keepdims=True) / np.maximum(times, 1), right.shape
            ),
            "1 is added each time that a row is read, in place of dy": np.broadcast_to(times, right.shape),
            "each time that a row is read it gets the mean of all rows of dy": times * rows.mean(axis=0),
            "each row that is read gets the sum of all rows of dy": (times > 0) * rows.sum(axis=0),
            "each row of dy is added up to one number, as .sum() does without an axis": np.broadcast_to(
                total.sum(axis=-1, keepdims=True), right.shape
            ),
        }
        known = {"how often each row is read": times}
        if flat.size * len(right) <= _MOST_ONES:
            known["onehot"] = 1.0 * (flat[:, None] == np.arange(len(right)))
        yield Formula(roads, mistakes, known, cuts=_row_by_row(flat, rows, right) if len(rows) <= _MOST_ROWS else ())


def _row_by_row(flat: Array, rows: Array, right: Array) -> tuple[Roads, ...]:
    each = {f"dy[{n}]": np.zeros_like(right) for n in range(len(rows))}
    for n, road in enumerate(each.values()):
        road[flat[n]] = rows[n]
    return (each,)


def of_rows(right: Array, around: Surroundings) -> Iterator[Formula]:
    """xᵀ dy: every row has a share."""
    x, dy = around.x, around.dy
    if x.ndim == dy.ndim == 2 and 1 < len(x) == len(dy) <= _MOST_ROWS and right.shape == (x.shape[1], dy.shape[1]):
        yield Formula({f"row {n}": np.outer(x[n], dy[n]) for n in range(len(x))}, {}, {})
