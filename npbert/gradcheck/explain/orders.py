"""orders: the ways in which the right numbers may stand in a wrong order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from npbert.compute import Array

_NEEDED = "a reshape stands where a transposition is needed"


def orders(wrong: Array, right: Array) -> Iterator[tuple[str, Array]]:
    """(in words, the right numbers in that order)."""
    if 1 < right.ndim <= 4:
        for order in itertools.permutations(range(right.ndim)):
            turned = right.transpose(order)
            named = "transposed" if right.ndim == 2 else f"with its axes in the order {order}"
            if turned.shape == right.shape:
                yield named, turned
            yield f"{named} and then reshaped: {_NEEDED}", turned.reshape(right.shape)
            back = right.reshape(turned.shape).transpose(np.argsort(order))
            yield f"reshaped and then {named}: {_NEEDED}", back
    if right.ndim == 2:
        yield from _of_heads(right)
    for axis in range(right.ndim):
        item = (
            ("rows", "columns")[axis] if right.ndim == 2 else f"slices of axis {axis}" if right.ndim > 1 else "numbers"
        )
        lines, of_wrong = (np.moveaxis(each, axis, 0).reshape(right.shape[axis], -1) for each in (right, wrong))
        order = np.abs(of_wrong[:, None] - lines[None]).max(axis=2).argmin(axis=1)
        guess = np.take(right, order, axis=axis)
        first = int(np.argmax(order != np.arange(len(order))))
        place = f"place {first} has what belongs in place {order[first]}"
        if (order == order[::-1][::-1]).all() and (order == np.arange(len(order))[::-1]).all():
            place = "the reverse one"
        yield f"its {item} are in another order: {place}", guess


def _of_heads(right: Array) -> Iterator[tuple[str, Array]]:
    rows, columns = right.shape
    for heads in (count for count in range(2, columns + 1) if columns % count == 0):
        width = columns // heads
        cut = right.reshape(rows, heads, width)
        of = f"cut into {heads} heads of {width}"
        yield f"its {heads} heads were put together by a reshape: {_NEEDED}", cut.swapaxes(0, 1).reshape(right.shape)
        mixed = right.reshape(heads, rows, width).swapaxes(0, 1).reshape(right.shape)
        yield f"it was {of} by a reshape: {_NEEDED}", mixed
        yield f"{of}, its columns are mixed", cut.swapaxes(1, 2).reshape(right.shape)
        for order in itertools.permutations(range(heads)) if heads <= 4 else ():
            yield f"its {heads} heads are in the order {order}", cut[:, list(order)].reshape(right.shape)
        each = np.stack([cut[:, head].T.reshape(rows, width) for head in range(heads)], axis=1)
        yield f"in each of {heads} heads {_NEEDED}", each.reshape(right.shape)
