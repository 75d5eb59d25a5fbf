"""cause_of_shape: what makes a gradient of a wrong shape the right one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from npbert.compute import Array

_SAME = 1e-6


def cause_of_shape(wrong: Array, right: Array) -> str:
    """In words, what has to be done to get the right gradient from one of another shape; "" if nothing simple does."""
    wrong = np.asarray(wrong)
    if wrong.ndim > 1 and _are_equal(wrong.T, right):
        return "transposed, it is right"
    for how, guess in _summed(wrong):
        if _are_equal(guess, right):
            return f"{how}, it is right"
    if wrong.size == right.size and _are_equal(wrong.reshape(right.shape), right):
        return "its numbers are right, and a reshape would do" if wrong.shape != right.shape else ""
    for how, guess in _summed(right):
        if _are_equal(guess, wrong):
            return f"it is the right one, but {how}"
    if wrong.ndim > 1 and wrong.T.shape == right.shape:
        return "the shape is the transposed one, but the numbers are others, too"
    return ""


def _summed(array: Array) -> Iterator[tuple[str, Array]]:
    for count in range(1, array.ndim + 1):
        for axes in itertools.combinations(range(array.ndim), count):
            along = f"axis {axes[0]}" if count == 1 else f"axes {' and '.join(map(str, axes))}"
            for keep in (False, True):
                yield f"summed over {along}", array.sum(axis=axes, keepdims=keep)
                yield f"averaged over {along}", array.mean(axis=axes, keepdims=keep)


def _are_equal(one: Array, other: Array) -> bool:
    if one.shape != other.shape:
        return False
    return bool(np.abs(one - other).max(initial=0) <= _SAME * np.abs(other).max(initial=0))
