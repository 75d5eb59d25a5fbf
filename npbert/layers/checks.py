"""Checks of the arrays passed to a layer."""

from typing import Any, NoReturn

import numpy as np

from npbert.compute import Array, DTypeLike


def check_rows(layer: Any, x: Array, features: int, dtype: DTypeLike) -> None:
    """Raise ValueError unless x is (N, features), TypeError unless it is an array of this dtype. (NumPy would silently
    broadcast an axis of 1, and turn float32 into float64.)"""
    if not isinstance(x, np.ndarray) or x.shape[1:] != (features,) or x.dtype != dtype:
        _refuse(layer, x, f"(N, {features})", dtype, "x")


def check_like(layer: Any, dy: Array, shape: tuple[int, ...], dtype: DTypeLike, *, name: str = "dy") -> None:
    """Raise ValueError or TypeError unless dy has the shape and dtype of y."""
    if not isinstance(dy, np.ndarray) or dy.shape != shape or dy.dtype != dtype:
        _refuse(layer, dy, shape, dtype, name)


def _refuse(layer: Any, array: Any, shape: Any, dtype: DTypeLike, name: str) -> NoReturn:
    is_array = isinstance(array, np.ndarray)
    got = f"{array.shape} of {array.dtype}" if is_array else f"a {type(array).__name__}"
    error = ValueError if is_array and array.dtype == dtype else TypeError
    raise error(f"{type(layer).__name__}: {name} is {got}, wanted an array {shape} of {dtype}")


def check_floats(layer: Any, x: Array) -> None:
    """Raise TypeError unless x is an array of floats, or of gradcheck's complex numbers and objects. (NumPy would
    accept integers or a list, and return float64.)"""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fcO":
        _refuse(layer, x, "(...)", "floats", "x")
