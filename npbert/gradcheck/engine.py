"""A function of the values of an autograd engine, such as micrograd's, as a Form.

A value is an object with a method `backward` and a number or an array, as `data` or `value`. `y.backward()` writes the
gradient of every value in the computation of y, as `grad`. So the check is of the engine: its operations, and the order
in which backward runs them. The values of f, such as the weights of a model, are also inputs.
"""

import copy
import inspect
from collections.abc import Iterator, Sequence
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from npbert.gradcheck.calls import is_stateful
from npbert.gradcheck.forms import Form, own
from npbert.gradcheck.inputs import Function, asked
from npbert.gradcheck.paths import is_numeric, leaves, members, once
from npbert.gradcheck.restoring import attributes_of, saved

_DATA = "data", "value", "cached_data"
_GRADIENTS = "grad", "gradient", "derivative"


def is_value(thing: Any) -> bool:
    """True for a value of an engine outside libraries."""
    return callable(getattr(thing, "backward", None)) and bool(_name_of_data(thing))


def values_in(thing: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values in an object, with their paths: in its attributes, items or, for a function, variables."""
    return leaves(thing, is_value, path, _members_or_variables)


def _members_or_variables(path: str, thing: Any) -> list[tuple[str, Any]]:
    if not isinstance(thing, FunctionType):
        return members(path, thing)
    variables = inspect.getclosurevars(thing)
    return [*variables.nonlocals.items(), *variables.globals.items()]


class EngineForm(Form):
    """f, with values, or arrays that it turns into values. Its inputs are the numbers of all values.

    Raises: TypeError if f does not return a value.
    """

    def __init__(self, f: Function, names: Sequence[str], given: Sequence[Any]) -> None:
        self._f, self._arguments = f, list(given)
        of_inputs = once(pair for name, one in zip(names, given, strict=True) for pair in values_in(one, name))
        found = once([*of_inputs, *values_in(f)])
        self._values = [value for _, value in found]
        self._restore = saved([*self._values, *set(map(type, self._values))])
        names, numbers = [path for path, _ in found], [np.array(_data(value), dtype=float) for value in self._values]
        super().__init__(names, numbers, lambda _, inputs: (_data(self._computed(inputs)), inputs), self._undo)
        self.given = len(of_inputs)

    def is_glue(self, code: CodeType, owner: Any) -> bool:
        """True for code that only calls what is checked: all but the methods of f if it is an operation; otherwise f,
        and a model with values."""
        if is_stateful(self._f):
            return owner is not self._f
        return code is getattr(self._f, "__code__", None) or (not is_value(owner) and any(values_in(owner)))

    @cached_property
    def _takes_values(self) -> bool:
        """True if backward takes a value, as its gradients are values."""
        y = self._computed(list(self.values.values()))
        if asked(y.backward, required=True):
            return False
        y.backward()
        return any(map(is_value, map(_gradient, self._values)))

    def _computed(self, inputs: Sequence[Any]) -> Any:
        """Return the result of f for these numbers, with gradients of 0, from the values and classes as they were: a
        tried edit may have changed a class."""
        np.random.seed(0)
        self._restore()
        for value, data in zip(self._values, inputs, strict=True):
            held = attributes_of(value)
            for name in _GRADIENTS:
                if held.get(name) is not None:
                    setattr(value, name, own(np.zeros(np.shape(data)), is_moved=True))
            setattr(value, _name_of_data(value), data)
        y = self._f(*self._arguments)
        if not is_value(y):
            raise TypeError(f"forward returns {type(y).__name__}, wanted one value of the engine, such as a loss")
        return y

    def _undo(self, dy: Any, inputs: list[Any]) -> Any:
        takes_values = self._takes_values
        y, times = self._computed(inputs), 1.0
        if not asked(y.backward):  # it starts from a gradient of 1
            y, times = (y * dy, 1.0) if np.ndim(dy) else (y, dy)
            y.backward()
        elif takes_values:
            given = copy.copy(self._values[0])
            setattr(given, _name_of_data(given), dy)
            y.backward(given)
        else:
            y.backward(dy)
        found = map(_gradient, self._values)
        return tuple(times * (_data(gradient) if is_value(gradient) else gradient) for gradient in found)


def _name_of_data(value: Any) -> str:
    """Return the attribute with the number or the array, or ""."""
    held = attributes_of(value)
    return next((name for name in _DATA if isinstance(held.get(name), int) or is_numeric(held.get(name))), "")


def _data(value: Any) -> Any:
    return getattr(value, _name_of_data(value))


def _gradient(value: Any) -> Any:
    """Return the gradient, or 0 if y does not depend on the value."""
    held = attributes_of(value)
    found = next((held[name] for name in _GRADIENTS if name in held), None)
    return np.zeros(np.shape(_data(value))) if found is None else found
