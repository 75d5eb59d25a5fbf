"""A function of the values of an autograd engine, such as micrograd's, as a Form.

A value is an object with a method `backward` that holds a number or an array, as `data` or `value`. `y.backward()`
leaves the gradient of every value that y was computed from in that value, as `grad`. So what is checked is the engine:
its operations, and the order in which backward runs them. The values that f holds, such as the weights of a model, are
inputs, too.
"""

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from npbert.gradcheck.forms import Form, Function, own
from npbert.gradcheck.inputs import asked
from npbert.gradcheck.places import is_number, members
from npbert.gradcheck.restoring import attributes_of, is_of_library, reset_class
from npbert.gradcheck.stateful import is_stateful

_DATA = "data", "value", "cached_data"
_GRADIENTS = "grad", "gradient", "derivative"


def is_value(thing: Any) -> bool:
    """True for a value of an engine that is no library's."""
    is_object = not isinstance(thing, type | FunctionType) and not is_of_library(type(thing))
    return is_object and callable(getattr(thing, "backward", None)) and bool(_name_of_data(attributes_of(thing)))


def values_in(thing: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each value that is held by a thing, with its path: by its attributes, items, or, of a function, variables."""
    seen: set[int] = set()
    waiting = [(path, thing)]
    while waiting:
        path, thing = waiting.pop(0)
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if is_value(thing):
            yield path, thing
        else:
            waiting[:0] = _held(path, thing)


def _held(path: str, thing: Any) -> list[tuple[str, Any]]:
    if isinstance(thing, FunctionType):
        variables = inspect.getclosurevars(thing)
        return [*variables.nonlocals.items(), *variables.globals.items()]
    return [(inner, value) for inner, _, value in members(path, thing)]


class EngineForm(Form):
    """f, given values or arrays that it makes values of. Its inputs are the numbers of all values.

    Raises: ValueError where there is no value; TypeError if f does not give one.
    """

    def __init__(self, f: Function, names: Sequence[str], given: Sequence[Any]) -> None:
        self._f, self._arguments = f, list(given)
        inputs = [each for name, one in zip(names, given, strict=True) for each in values_in(one, name)]
        known = {id(value) for _, value in inputs}
        found = inputs + [each for each in values_in(f) if id(each[1]) not in known]
        self._values = [value for _, value in found]
        self._start = [attributes_of(value) for value in self._values]
        kinds = {type(value) for value in self._values}
        self._classes = [(kind, dict(vars(kind))) for kind in kinds]
        super().__init__(f, [name for name, _ in found], self._run, self._undo)
        self.moved = list(range(len(found)))
        self.given = len(inputs)

    @property
    def values(self) -> list[Any]:
        """The number or array of each value, in float64."""
        return [np.array(start[_name_of_data(start)], dtype=float) for start in self._start]

    def is_glue(self, code: CodeType, owner: Any) -> bool:
        """True for all but the methods of f, if f is an operation; else for f, and for a model that holds values."""
        if is_stateful(self._f):
            return owner is not self._f
        return code is getattr(self._f, "__code__", None) or (not is_value(owner) and any(values_in(owner)))

    @cached_property
    def _takes_values(self) -> bool:
        """True if backward is given a value, as the gradients that it leaves are such."""
        y = self._computed(self.values)
        if asked(y.backward, required=True):
            return False
        y.backward()
        return any(is_value(_gradient(value)) for value in self._values)

    def _computed(self, inputs: Sequence[Any]) -> Any:
        """What f gives for these numbers, with gradients of 0. An edit that was tried may have changed the class."""
        for kind, before in self._classes:
            reset_class(kind, before)
        for value, start, data in zip(self._values, self._start, inputs, strict=True):
            zeros = {name: own(np.zeros(np.shape(data)), is_moved=True) for name in _GRADIENTS if name in start}
            _reset(value, {**start, **zeros, _name_of_data(start): data})
        y = self._f(*self._arguments)
        if not is_value(y):
            raise TypeError(f"forward returns {type(y).__name__}, wanted one value of the engine, such as a loss")
        return y

    def _run(self, inputs: list[Any]) -> tuple[Any, Any]:
        return _data(self._computed(inputs)), inputs

    def _undo(self, dy: Any, inputs: list[Any]) -> Any:
        takes_values = self._takes_values
        with self._as_written(0):
            y = self._computed(inputs)
        if not asked(y.backward):  # it starts from a gradient of 1
            (y * dy if np.ndim(dy) else y).backward()
            return tuple(gradient if np.ndim(dy) else dy * gradient for gradient in map(_gradient, self._values))
        if takes_values:
            given = copy.copy(self._values[0])
            _reset(given, {**self._start[0], _name_of_data(self._start[0]): dy})
        y.backward(given if takes_values else dy)
        found = map(_gradient, self._values)
        return tuple(_data(gradient) if is_value(gradient) else gradient for gradient in found)


def _name_of_data(held: Mapping[str, Any]) -> str:
    """The attribute that is the number or the array; "" where there is none."""
    return next((name for name in _DATA if isinstance(held.get(name), int) or is_number(held.get(name))), "")


def _reset(value: Any, attributes: Mapping[str, Any]) -> None:
    """Give a value these attributes, and no others."""
    for name in attributes_of(value).keys() - attributes.keys():
        delattr(value, name)
    for name, each in attributes.items():
        setattr(value, name, each)


def _data(value: Any) -> Any:
    return getattr(value, _name_of_data(attributes_of(value)))


def _gradient(value: Any) -> Any:
    """0 where there is none: y does not depend on it."""
    held = attributes_of(value)
    found = next((held[name] for name in _GRADIENTS if name in held), None)
    return np.zeros(np.shape(_data(value))) if found is None else found
