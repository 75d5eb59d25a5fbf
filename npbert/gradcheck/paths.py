"""The contents of an object by their paths, such as layers[0].params["W"]."""

import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from npbert.gradcheck.exact.number import Number
from npbert.gradcheck.inputs import Function
from npbert.gradcheck.restoring import attributes_of

_AFFIX = "(d|dl|dj|dloss|delta|g|grads?|gradients?)?(d|of)?"

Pair = tuple[str, Any]
"""A path, and its value."""

Values = dict[str, Any]
"""The contents of an object, by path."""


def owner_of(path: str) -> str:
    """Return the path of the innermost object that holds a value, as an attribute or an item of a dict or list."""
    return path.rpartition(".")[0]


def _key(path: str) -> str:
    """Return a value's own name: of an attribute, or of an item."""
    return re.split(r'[."\[\]]+', path.rstrip('"]'))[-1]


def is_in_dict(path: str) -> bool:
    """True for an item of a dict, or in one."""
    return '["' in path


def is_called(path: str, name: str) -> bool:
    """True if `name` is the path, or its last name."""
    return name in (path, _key(path))


def is_named_for(path: str, parameter: str) -> bool:
    """True if it is named as the gradient of W in the same object: dW, grad_W, W_grad or dLdW; or W in another dict or
    list."""
    mine, name = (re.sub(r"[\W_]", "", _key(each)).lower() for each in (path, parameter))
    is_one = re.fullmatch(f"{_AFFIX}{name}|{name}{_AFFIX}", mine)
    return owner_of(path) == owner_of(parameter) and is_one is not None


def is_numeric(value: Any) -> bool:
    """True for an array of real, complex or exact numbers, or for such a number."""
    return isinstance(value, float | Number) or getattr(getattr(value, "dtype", None), "kind", "") in tuple("fcO")


def members(path: str, thing: Any) -> list[Pair]:
    """Return the contents of an object, each with its path."""
    if isinstance(thing, dict):
        return [(f'{path}["{key}"]', value) for key, value in thing.items()]
    if isinstance(thing, list | tuple):
        return [(f"{path}[{number}]", value) for number, value in enumerate(thing)]
    return [(f"{path}.{name}".lstrip("."), value) for name, value in attributes_of(thing).items()]


def values_at(thing: Any, path: str = "") -> Values:
    """Return every number, array, module and None in an object, at any depth."""
    return dict(leaves(thing, lambda each: each is None or is_numeric(each) or isinstance(each, ModuleType), path))


def listed(thing: Any, path: str) -> Values:
    """Return what is in lists, tuples and dicts, at any depth."""
    return dict(leaves(thing, lambda each: not isinstance(each, list | tuple | dict), path))


def leaves(thing: Any, is_leaf: Function, path: str = "", inside: Function = members) -> Iterator[Pair]:
    """Yield each leaf in an object with its path, at every path where it is; the contents of any other object once.

    inside(path, thing): the contents of an object."""
    seen: dict[int, Any] = {}
    waiting = [(path, thing)]
    while waiting:
        path, thing = waiting.pop(0)
        if is_leaf(thing):
            yield path, thing
        elif id(thing) not in seen:
            seen[id(thing)] = thing
            waiting[:0] = inside(path, thing)


def snapshot(values: Values) -> Values:
    """Return the arrays and floats among these values, each with a copy."""
    kinds = np.ndarray | np.generic | float
    return {path: (value, np.copy(value)) for path, value in values.items() if isinstance(value, kinds)}


def changed(before: Values) -> list[str]:
    """Return the paths of the arrays in a snapshot that have changed in place."""
    return [path for path, (value, copied) in before.items() if not np.array_equal(value, copied, equal_nan=True)]


def once(pairs: Iterable[Pair]) -> list[Pair]:
    """Return each value once, with its first path."""
    found = dict[int, Pair]()
    for path, value in pairs:
        found.setdefault(id(value), (path, value))
    return list(found.values())
