"""What is done to the inputs of a layer before a call: each kind of value in its own way."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np


def for_a_call(value: Any) -> Any:
    """The value itself, but a copy of a Generator, so that every call draws the same."""
    if not isinstance(value, np.random.Generator):
        return value
    bits = type(value.bit_generator)(0)
    bits.state = value.bit_generator.state  # a third of the time of copy.deepcopy
    return np.random.Generator(bits)


def read_only(value: Any) -> Any:
    """A copy of the arrays, those in a dataclass (a Batch) too, that cannot be written to."""

    def freeze(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array.flags.writeable = False
        return array

    return _with_arrays(value, freeze)


def different(value: Any) -> Any:
    """Another value that fits in the place of this one: other floats, the rows of ids and masks in other places.

    Floats are not only shifted or scaled: a layer such as LayerNorm would not notice.
    """
    if isinstance(value, np.random.Generator):
        return np.random.default_rng(0)

    def change(array: np.ndarray) -> np.ndarray:
        moved = np.roll(array, 1, axis=0) if array.ndim else array
        return moved * 1.5 + np.arange(array.size).reshape(array.shape) % 3 if array.dtype.kind == "f" else moved

    return _with_arrays(value, change)


def is_float_array(value: Any) -> bool:
    """Whether the value is an array of real floating-point numbers, which have derivatives."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _with_arrays(value: Any, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        return change(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
        return dataclasses.replace(value, **{name: _with_arrays(item, change) for name, item in fields.items()})
    return value
