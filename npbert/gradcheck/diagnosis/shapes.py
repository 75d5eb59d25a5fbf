"""A gradient of a wrong shape or dtype: what makes it the right one, if anything does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import ACCURACY, d


def wrong_kind(wrong: Array, right: Array, name: str) -> str:
    """In words, that the shape or dtype is wrong, and what is true of it; "" when both are right."""
    if wrong.shape != right.shape:
        cause = cause_of_shape(wrong, right)
        return f"{d(name)} has shape {wrong.shape}, and {name} has shape {right.shape}{cause and ': ' + cause}"
    if wrong.dtype != right.dtype:
        return f"{d(name)} is {wrong.dtype}, and {name} is {right.dtype}"
    return ""


def cause_of_shape(wrong: Array, right: Array) -> str:
    """What has to be done to get the right gradient from one of another shape; "" if nothing simple does."""
    for text, guess in _mended(wrong, right):
        if guess.shape == right.shape and _are_equal(guess, right):
            return text
    for text, guess in _spoilt(right):
        if guess.shape == wrong.shape and _are_equal(guess, wrong):
            return text
    if wrong.ndim > 1 and wrong.T.shape == right.shape:
        return "the shape is the transposed one, but the numbers are others, too"
    return ""


def _mended(wrong: Array, right: Array) -> Iterator[tuple[str, Array]]:
    if wrong.ndim > 1:
        yield "transposed, it is right", wrong.T
    for axes in _subsets(wrong.ndim):
        for keep in (False, True):
            yield f"summed over {_axes(axes)}, it is right", wrong.sum(axis=axes, keepdims=keep)
            yield f"averaged over {_axes(axes)}, it is right", wrong.mean(axis=axes, keepdims=keep)
    if wrong.size == right.size:
        yield "its numbers are right, and a reshape would do", wrong.reshape(right.shape)


def _spoilt(right: Array) -> Iterator[tuple[str, Array]]:
    for axes in _subsets(right.ndim):
        for keep in (False, True):
            yield (
                f"it is the right one, but summed over {_axes(axes)}",
                right.sum(axes, keepdims=keep),
            )
            yield f"it is the right one, but averaged over {_axes(axes)}", right.mean(axes, keepdims=keep)


def _subsets(ndim: int) -> Iterator[tuple[int, ...]]:
    for count in range(1, ndim + 1):
        yield from itertools.combinations(range(ndim), count)


def _axes(axes: tuple[int, ...]) -> str:
    return f"axis {axes[0]}" if len(axes) == 1 else f"axes {' and '.join(map(str, axes))}"


def _are_equal(one: Array, other: Array) -> bool:
    return bool(np.abs(one - other).max(initial=0) <= ACCURACY * np.abs(other).max(initial=0))
