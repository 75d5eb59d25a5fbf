"""A function of the values of an autograd engine, such as micrograd's, as a Form.

A value is an object with a method `backward` and a number or an array, as `data` or `value`. `y.backward()` writes the
gradient of every value in the computation of y, as `grad`. So the check is of the engine: its operations, and the order
in which backward runs them. The values of f, such as the weights of a model, are also inputs.
"""

import copy
import inspect
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from npbert.gradcheck.calls import is_stateful
from npbert.gradcheck.forms import Form
from npbert.gradcheck.inputs import Function, asked, names_given
from npbert.gradcheck.paths import Pair, is_numeric, leaves, members, once
from npbert.gradcheck.restoring import attributes_of, saved

_DATA = "data", "value", "cached_data"
_GRADIENTS = "grad", "gradient", "derivative"


def is_value(thing: Any) -> bool:
    """True for a value of an engine outside libraries."""
    return callable(getattr(thing, "backward", None)) and bool(_name_of_data(thing))


def values_in(thing: Any, path: str = "") -> Iterator[Pair]:
    """Yield the values in an object, with their paths: in its attributes, items or, for a function, variables."""
    return leaves(thing, is_value, path, _members_or_variables)


def _members_or_variables(path: str, thing: Any) -> list[Pair]:
    if not isinstance(thing, FunctionType):
        return members(path, thing)
    variables = inspect.getclosurevars(thing)
    return [*variables.nonlocals.items(), *variables.globals.items()]


def form_of_engine(f: Function, given: Sequence[Any]) -> Form:
    """Return the Form of f, with values, or arrays that it turns into values. Its inputs are the numbers of all values.

    Raises: TypeError if f does not return a value.
    """
    of_inputs = [
        pair for name, one in zip(names_given(f, len(given)), given, strict=True) for pair in values_in(one, name)
    ]
    found = once([*of_inputs, *values_in(f)])
    varied = [(path, value) for path, value in found if getattr(value, "requires_grad", True)]  # the others: constants
    paths, values = zip(*(varied or found), strict=True)
    numbers = [np.array(_data(value), dtype=float) for value in values]
    restore = saved([*values, *set(map(type, values))])

    def computed(inputs: Sequence[Any]) -> Any:
        """Return the result of f for these numbers, from the values and classes as they were: a tried edit may have
        changed a class."""
        np.random.seed(0)
        restore()
        for value, data in zip(values, inputs, strict=True):
            _start(value, data)
        y = f(*given)
        if not is_value(y):
            raise TypeError(f"forward returns {type(y).__name__}, wanted one value of the engine, such as a loss")
        return y

    with suppress(Exception):  # the author's: without a gradient, backward may refuse y
        computed(numbers).backward()
    takes_value = any(map(is_value, map(_gradient, values)))

    def undone(inputs: Sequence[Any], dy: Any) -> Any:
        y, times = computed(inputs), 1.0
        if asked(y.backward):
            gradient = copy.copy(values[0])
            setattr(gradient, _name_of_data(gradient), dy)
            y.backward(gradient if takes_value else dy)
        elif np.ndim(dy):  # it starts from a gradient of 1
            (y * dy).backward()
        else:
            y.backward()
            times = dy
        found = map(_gradient, values)
        return tuple(times * (_data(gradient) if is_value(gradient) else gradient) for gradient in found)

    def is_glue(code: CodeType, owner: Any) -> bool:
        """True for code that only calls what is checked: all but the methods of f if it is an operation; otherwise f,
        and a model with values."""
        if is_stateful(f):
            return owner is not f
        return code is getattr(f, "__code__", None) or (not is_value(owner) and any(values_in(owner)))

    form = Form(paths, numbers, lambda _, inputs: (_data(computed(inputs)), partial(undone, inputs)))
    form.given, form.is_glue = len(dict(of_inputs).keys() & paths), is_glue
    return form


def _start(value: Any, data: Any) -> None:
    """Give the value this number, and a gradient of 0."""
    for name in _GRADIENTS:
        if attributes_of(value).get(name) is not None:
            setattr(value, name, 0 * data)
    setattr(value, _name_of_data(value), data)


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
    return 0 * _data(value) if found is None else found
