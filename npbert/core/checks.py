"""Checks of a user's ids, labels and generators, before anything is computed from them."""

import numpy as np

from npbert.compute import Array

IGNORED = -100
"""A label with this value is not a target (Hugging Face's convention)."""


def check_rng(rng: np.random.Generator | None) -> None:
    """Raise TypeError unless `rng` is a Generator or None."""
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng is {rng!r}, wanted a Generator, such as np.random.default_rng(0), or None")


def check_integers(array: Array, *, name: str) -> None:
    """Raise TypeError unless `array` is an array of integers."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu":
        raise TypeError(f"{name} is an array of {getattr(array, 'dtype', type(array).__name__)}, wanted integers")


def check_ids(ids: Array, limit: int, *, name: str, limit_name: str) -> None:
    """Raise TypeError unless `ids` are integers, and IndexError for the first one outside 0 to limit − 1. (NumPy would
    silently take id −1 as the last row.)"""
    check_integers(ids, name=name)
    wrong = (ids < 0) | (ids >= limit)
    if wrong.any():
        place = np.argwhere(wrong)[0].tolist()
        raise IndexError(f"{name}{place} is {ids[wrong][0]}, wanted 0 to {limit - 1}, as {limit_name} is {limit}")


def check_labels(labels: Array, num_classes: int, *, limit_name: str, name: str = "labels") -> None:
    """Raise as check_ids for labels other than IGNORED, and ValueError if all are IGNORED."""
    check_integers(labels, name=name)
    is_target = labels != IGNORED
    check_ids(np.where(is_target, labels, 0), num_classes, name=name, limit_name=limit_name)
    if not is_target.any():
        raise ValueError(f"{name} has no target: all {labels.size} are {IGNORED}, wanted at least one class")
