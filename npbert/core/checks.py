"""Errors for values that a user hands in, raised before anything is computed from them."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from npbert.compute.array import Array

IGNORED = -100
"""A label with this value is no target (Hugging Face's convention)."""


def check_rows(layer: Any, x: Array, features: int, dtype: DTypeLike, *, name: str = "x") -> None:
    """Raise unless x is (N, features) of this dtype.

    Raises: ValueError for another shape, TypeError for another dtype or what is no array. (NumPy alone would stretch an
    axis of 1, and turn float32 into float64, without a word.)
    """
    if not isinstance(x, np.ndarray) or x.ndim != 2 or x.shape[1] != features or x.dtype != dtype:
        _refuse(layer, x, f"(N, {features})", dtype, name)


def check_like(layer: Any, dy: Array, shape: tuple[int, ...], dtype: DTypeLike, *, name: str = "dy") -> None:
    """Raise unless dy has this shape and dtype, those of the y that it is the gradient of. Raises: as check_rows."""
    if not isinstance(dy, np.ndarray) or dy.shape != shape or dy.dtype != dtype:
        _refuse(layer, dy, shape, dtype, name)


def check_floats(layer: Any, x: Array, *, name: str = "x") -> None:
    """Raise TypeError unless x is an array of floats; or of what gradcheck puts in their place, complex numbers and
    objects. (NumPy alone would take the tanh of integers, or of a list, and give float64.)"""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fcO":
        kind = f"of {x.dtype}" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"
        raise TypeError(f"{type(layer).__name__}: {name} is {kind}, wanted an array of floats")


def _refuse(layer: Any, array: Any, shape: Any, dtype: DTypeLike, name: str) -> NoReturn:
    wanted = f"wanted an array {shape} of {np.dtype(dtype)}"
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{type(layer).__name__}: {name} is a {type(array).__name__}, {wanted}")
    error = TypeError if array.dtype != dtype else ValueError
    raise error(f"{type(layer).__name__}: {name} is {array.shape} of {array.dtype}, {wanted}")


def check_integers(array: Array, *, name: str) -> None:
    """Raise TypeError unless `array` is an array of integers."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be an array of integers, got {getattr(array, 'dtype', type(array).__name__)}")


def check_ids(ids: Array, limit: int, *, name: str, limit_name: str) -> None:
    """Raise unless `ids` are integers from 0 to limit − 1.

    Raises: TypeError for another dtype; IndexError that names the first wrong id, its place and the limit. (NumPy alone
    would read id −1 as the last row, and −100 as row limit − 100, without a word.)
    """
    check_integers(ids, name=name)
    wrong = (ids < 0) | (ids >= limit)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        where = ", ".join(map(str, place))
        raise IndexError(f"{name}[{where}] is {ids[place]}, but {limit_name} is {limit}: wanted 0 to {limit - 1}")


def check_labels(labels: Array, num_classes: int, *, limit_name: str, name: str = "labels") -> None:
    """Raise as check_ids for labels that are not IGNORED, and ValueError when all of them are."""
    check_integers(labels, name=name)
    is_target = labels != IGNORED
    check_ids(np.where(is_target, labels, 0), num_classes, name=name, limit_name=limit_name)
    if not is_target.any():
        raise ValueError(f"{name} hold no target: all {labels.size} are {IGNORED}, so there is nothing to predict")


def check_mask(mask: Array, shape: tuple[int, ...]) -> None:
    """Raise unless `mask` is an attention mask of that shape, with something to attend to in every sequence.

    Raises: TypeError unless it holds integers or booleans (an additive mask is of floats); ValueError for another
    shape, for another value than 0 and 1, or for a sequence that is all padding.
    """
    if mask.dtype.kind != "b":
        check_integers(mask, name="attention_mask")
    if mask.shape != shape:
        raise ValueError(f"attention_mask has shape {mask.shape}, wanted {shape}")
    wrong = (mask != 0) & (mask != 1)
    if wrong.any():
        raise ValueError(f"attention_mask holds {mask[wrong][0]}, wanted only 1 (real) and 0 (padding)")
    is_empty = ~mask.any(axis=-1)
    if is_empty.any():
        where = ", ".join(map(str, np.argwhere(is_empty)[0].tolist()))
        raise ValueError(f"attention_mask[{where}] is all 0: a sequence needs at least one real token")
