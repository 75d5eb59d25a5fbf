"""Copies and changes of a layer's inputs for a call, by the kind of value."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.core import Sequences

Function = Callable[..., Any]
Outputs = tuple[Any, ...]
Rng = np.random.Generator | None


def as_list(returned: Any) -> list[Any]:
    """Return the results of a function as a list."""
    return list(returned) if isinstance(returned, tuple | list) else [returned]


def as_tuple(value: Any) -> Outputs:
    """Return the parts of a tuple or list that are not None (a model may lack an output), or the value as a tuple."""
    return tuple(part for part in as_list(value) if part is not None)


def mapped(change: Function, value: Any) -> Any:
    """Return change(value), or that of each value in a tuple, list or dict, at any depth."""
    if isinstance(value, dict):
        return {key: mapped(change, part) for key, part in value.items()}
    if not isinstance(value, tuple | list):
        return change(value)
    parts = [mapped(change, part) for part in value]
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)


def copied(value: Any, copy: Function = np.copy) -> Any:
    """Return a copy of the arrays, also of those in a dataclass (a Batch). copy: of an array."""
    if isinstance(value, np.ndarray):
        return copy(value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    fields = (field.name for field in dataclasses.fields(value) if field.init)
    return dataclasses.replace(value, **{name: copied(getattr(value, name), copy) for name in fields})


def different(value: Any) -> Any:
    """Return another valid value: other floats, rows of ids and masks in other places, sequences in reverse order, with
    all queries at the first place.

    Floats are not moved to other rows, as there may be only one, and not only shifted or scaled, which LayerNorm
    ignores. Whole numbers in ascending order stay, as the order may matter.
    """

    def another(array: np.ndarray) -> np.ndarray:
        if array.dtype.kind == "f":
            return np.asarray(array * 1.5 + np.resize([1, 2, 3], array.shape))
        is_ascending = array.ndim < 2 and (np.diff(array.ravel()) >= 0).all()
        return array if is_ascending else np.roll(array, 1, axis=0)

    if isinstance(value, Sequences):
        first = np.zeros_like(value.query_positions)
        return Sequences(value.lengths[::-1], value.query_lengths[::-1], first)
    return copied(value, another)


def magnitude(array: Any) -> Any:
    """Return the largest absolute value in an array; 0 if it is empty."""
    return np.abs(array).max(initial=0)


def is_float_array(value: Any) -> bool:
    """True for an array of real floats, which have derivatives."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def names_given(function: Any, count: int, *, skip: int = 0) -> list[str]:
    """Return a function's names of its first arguments."""
    names = asked(function)[skip:]
    return [*names[:count], *(f"input {position}" for position in range(len(names), count))]


def asked(function: Any, *, required: bool = False) -> list[str]:
    """Return a function's argument names; with `required`, only those without a default."""
    try:
        parameters = inspect.signature(_unwrapped(function)).parameters.values()
    except (TypeError, ValueError):  # no signature, as of a ufunc, or no names in it
        return []
    named = [one for one in parameters if one.kind <= one.POSITIONAL_OR_KEYWORD]
    return [one.name for one in named if not required or one.default is one.empty]


def _unwrapped(function: Any) -> Any:
    """Return the function within a decorator's wrapper of any arguments, or else the function itself.

    Raises: ValueError unless such a wrapper has one function; TypeError for a callable object of any arguments."""
    kinds = [one.kind for one in inspect.signature(function).parameters.values()]
    if kinds != [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]:
        return function
    functions = filter(inspect.isfunction, inspect.getclosurevars(function).nonlocals.values())
    (wrapped,) = (each for each in functions if each.__code__ is not function.__code__)
    return wrapped.__get__(function.__self__) if inspect.ismethod(function) else wrapped
