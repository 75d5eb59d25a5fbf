"""What is done to the inputs of a layer before a call: each kind of value in its own way."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from npbert.core import Sequences


def as_tuple(value: Any) -> tuple[Any, ...]:
    """The parts of a tuple or list that are there (a model may lack an output: None), or the value alone."""
    return tuple(part for part in value if part is not None) if isinstance(value, tuple | list) else (value,)


def copy_of(rng: np.random.Generator | None) -> np.random.Generator | None:
    """A generator that will draw the same. (In a third of the time of copy.deepcopy.)"""
    if rng is None:
        return None
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng is {rng!r}, wanted a Generator, such as np.random.default_rng(0), or None")
    bits = type(rng.bit_generator)(0)
    bits.state = rng.bit_generator.state
    return np.random.Generator(bits)


def read_only(value: Any) -> Any:
    """A copy of the arrays, those in a dataclass (a Batch) too, that cannot be written to."""

    def freeze(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array.flags.writeable = False
        return array

    return _with_arrays(value, freeze)


def copied(value: Any) -> Any:
    """A copy of the arrays, those in a dataclass (a Batch) too."""
    return _with_arrays(value, np.copy)


def different(value: Any) -> Any:
    """Another value that fits in the place of this one: other floats, the rows of ids and masks in other places, and
    the sequences in the reverse order.

    Floats are not only moved to other rows, as there may be only one, and not only shifted or scaled, as a layer such
    as LayerNorm would not notice. Whole numbers in ascending order stay: they may have to be.
    """

    def change(array: np.ndarray) -> np.ndarray:
        moved = np.roll(array, 1, axis=0) if array.ndim else array
        if array.dtype.kind != "f":
            is_ascending = array.ndim == 1 and (np.diff(array) >= 0).all()
            return array if is_ascending else moved
        return np.asarray(moved * 1.5 + (np.arange(array.size) % 3 + 1).reshape(array.shape))

    if isinstance(value, Sequences):
        return Sequences(value.lengths[::-1], value.looking[::-1])
    return _with_arrays(value, change)


def is_float_array(value: Any) -> bool:
    """Whether the value is an array of real floating-point numbers, which have derivatives."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def is_whole(value: Any) -> bool:
    """Whether the value is an array of whole numbers, such as ids and labels."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.ndim > 0


def arrays_in(value: Any) -> list[tuple[str, np.ndarray]]:
    """An array, named "", or those in a dataclass (a Batch) by the names of their fields."""
    if isinstance(value, np.ndarray):
        return [("", value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
        return [(name, item) for name, item in fields if isinstance(item, np.ndarray)]
    return []


def names_of_inputs(layer: Any, count: int) -> list[str]:
    """The names that forward gives its first inputs."""
    parameters = inspect.signature(layer.forward).parameters.values()
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = [parameter.name for parameter in parameters if parameter.kind in kinds]
    return [names[position] if position < len(names) else f"input {position}" for position in range(count)]


def float_inputs_of(layer: Any, inputs: tuple[Any, ...], parameters: Collection[str]) -> dict[str, int]:
    """The positions of the float arrays among the inputs, by the names that forward gives them; with `input` before it
    where a parameter has that name."""
    names = names_of_inputs(layer, len(inputs))
    return {
        f"input {names[position]}" if names[position] in parameters else names[position]: position
        for position, value in enumerate(inputs)
        if is_float_array(value)
    }


def _with_arrays(value: Any, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        return change(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
        return dataclasses.replace(value, **{name: _with_arrays(item, change) for name, item in fields.items()})
    return value
