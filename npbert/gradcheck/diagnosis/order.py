"""The right numbers in a wrong order: transposed, reshaped, flipped, shifted, permuted; or the gradient of another."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import Case, Finding, along, d, plural

_MOST_AXES = 4
_MOST_HEADS = 6


def another_gradient(case: Case) -> Iterator[Finding]:
    """The gradient of another parameter or input, as it is or transposed."""
    for name, other in case.others.items():
        if other.shape == case.wrong.shape and np.any(other) and case.explains(other, fitted=1):
            right = case.name_of(case.right)
            yield Finding("another", case.name, f"{case.d} is {d(name)}{right and f', and should be {right}'}")
            return
        elif other.T.shape == case.wrong.shape and np.any(other) and case.explains(other.T, fitted=1):
            yield Finding("another", case.name, f"{case.d} is {d(name)}, transposed")


def wrong_order(case: Case) -> Iterator[Finding]:
    """All the right numbers, and in which order they are, if it is one that has a name."""
    different = np.unique(case.right).size
    sort_error = np.abs(np.sort(case.wrong, axis=None) - np.sort(case.right, axis=None)).max(initial=0)
    if different < 4 or not sort_error <= case.allowed:
        return
    found = next((text for text, guess in _orders(case) if case.explains(guess)), "in another order")
    yield Finding("order", case.name, f"{case.d} has the right numbers, but {found}")


def _orders(case: Case) -> Iterator[tuple[str, Array]]:
    right = case.right
    if 1 < right.ndim <= _MOST_AXES:
        yield from _transpositions(right)
    if right.ndim == 2:
        yield from _permuted_heads(right, case.heads)
    for axis, item in _items(right):
        yield f"its {plural(item)} are in the reverse order", np.flip(right, axis)
        count = right.shape[axis]
        for by in range(1, count // 2 + 1):
            text = f"its {plural(item)} are shifted by {by}"
            yield f"{text} ({item} {by} has what belongs in {item} 0)", np.roll(right, by, axis)
            yield f"{text} ({item} 0 has what belongs in {item} {by})", np.roll(right, -by, axis)
    if right.ndim == 2:
        yield from _of_pieces(case)
    for axis, item in _items(right):
        yield _matched(case, axis, item)
    if right.ndim == 2:
        yield "the numbers of each row are in another order within it", _within(case, 1)
        yield "the numbers of each column are in another order within it", _within(case, 0)


def _items(right: Array) -> Iterator[tuple[int, str]]:
    for axis in range(right.ndim):
        yield axis, along(axis, right.ndim)[0] if right.ndim > 1 else "number"


def _permuted_heads(right: Array, count: int) -> Iterator[tuple[str, Array]]:
    if 1 < count <= _MOST_HEADS and right.shape[1] % count == 0:
        heads = right.reshape(len(right), count, -1)
        for order in itertools.permutations(range(count)):
            yield f"its {count} heads are in the order {order}", heads[:, list(order)].reshape(right.shape)


def _transpositions(right: Array) -> Iterator[tuple[str, Array]]:
    for order in itertools.permutations(range(right.ndim)):
        turned = right.transpose(order)
        if order == tuple(range(right.ndim)):
            continue
        named = "it is transposed" if right.ndim == 2 else f"its axes are in the order {order}"
        if turned.shape == right.shape:
            yield named, turned
        else:
            text = f"{named} and then reshaped to {right.shape}: a reshape stands where a transposition is needed"
            yield text, turned.reshape(right.shape)
            yield (
                f"it was reshaped to {turned.shape} and then transposed: a reshape stands where a transposition is "
                "needed",
                right.reshape(turned.shape).transpose(np.argsort(order)),
            )


def _of_pieces(case: Case) -> Iterator[tuple[str, Array]]:
    """Reshaped or transposed heads: pieces of the last axis, in each sequence by itself or in all rows at once."""
    right = case.right
    rows, columns = right.shape
    lengths = case.lengths if sum(case.lengths) == rows else (rows,)
    heads = dict.fromkeys([case.heads, *(count for count in range(1, columns + 1) if columns % count == 0)])
    for each, count in itertools.product(dict.fromkeys([lengths, (rows,)]), heads):
        of = f"in each head ({count} heads of {columns // count} columns)" if count > 1 else "in all columns"
        of += " of each sequence" if len(each) > 1 else ""
        for text, change in _CHANGES.items():
            yield f"{of} {text}", _each_piece(right, each, count, change)
    for count in heads:
        yield from _permuted_heads(right, count)
        turned = right.reshape(rows, columns // count, count).swapaxes(1, 2).reshape(right.shape)
        yield f"its columns are cut into heads the wrong way, {count} by {columns // count}", turned
    for each, count in itertools.product(dict.fromkeys([lengths, (rows,)]), heads):
        yield (
            f"its {count} heads were put together by a reshape, where a transposition is needed",
            _joined(right, each, count, invert=False),
        )
        yield (
            f"it was cut into {count} heads by a reshape, where a transposition is needed",
            _joined(right, each, count, invert=True),
        )


_CHANGES: dict[str, Callable[[Array], Array]] = {
    "a reshape stands where a transposition is needed": lambda piece: piece.T.reshape(piece.shape),
    "a reshape undoes what a transposition should": lambda piece: piece.reshape(piece.T.shape).T,
}


def _each_piece(right: Array, lengths: tuple[int, ...], heads: int, change: Callable[[Array], Array]) -> Array:
    changed, width = right.copy(), right.shape[1] // heads
    for end, length in zip(itertools.accumulate(lengths), lengths, strict=True):
        for first in range(0, right.shape[1], width):
            piece = np.s_[end - length : end, first : first + width]
            changed[piece] = change(right[piece])
    return changed


def _joined(right: Array, lengths: tuple[int, ...], heads: int, *, invert: bool) -> Array:
    changed, width = right.copy(), right.shape[1] // heads
    for end, length in zip(itertools.accumulate(lengths), lengths, strict=True):
        rows = right[end - length : end]
        cut = rows.reshape(heads, length, width) if invert else rows.reshape(length, heads, width)
        changed[end - length : end] = cut.swapaxes(0, 1).reshape(rows.shape)
    return changed


def _matched(case: Case, axis: int, item: str) -> tuple[str, Array]:
    """The right gradient with its lines across `axis` in the order in which the wrong one has them."""
    wrong, right = (np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1) for array in (case.wrong, case.right))
    distances = np.abs(wrong[:, None] - right[None]).max(axis=2, initial=0)
    order: list[int] = []
    for row in distances:
        row[order] = math.inf  # each is taken once
        order.append(int(row.argmin()))
    guess = np.take(case.right, order, axis=axis)
    others = tuple(other for other in range(case.right.ndim) if other != axis)
    place = int(np.argmax((np.abs(guess - case.right) > case.allowed).any(axis=others)))
    text = f"its {plural(item)} are in another order ({item} {place} has what belongs in {item} {order[place]})"
    return text, guess


def _within(case: Case, axis: int) -> Array:
    """The right gradient with the numbers of each line along `axis` in the order of size of the wrong one's."""
    guess = np.empty_like(case.right)
    np.put_along_axis(guess, np.argsort(case.wrong, axis=axis), np.sort(case.right, axis=axis), axis=axis)
    return guess
