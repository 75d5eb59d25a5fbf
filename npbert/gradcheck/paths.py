"""The numbers in an object by their paths, such as layers[0].params["W"], and the gradients of its parameters."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import named_parts
from npbert.gradcheck.exact.number import Number
from npbert.gradcheck.inputs import Function, as_list, is_float_array
from npbert.gradcheck.restoring import attributes_of

_AFFIX = re.compile(r"(d|dl|dj|dloss|delta|g|grads?|gradients?)?(d|of)?")

Grads = Mapping[str, str | None]
Values = dict[str, Any]
"""The contents of an object, by path."""


def owner_and_key(path: str) -> tuple[str, str]:
    """Return the path of the innermost object that holds a value, and the value's name there: of an attribute, or of an
    item of a dict or list."""
    owner, _, name = path.rpartition(".")
    return owner, name.rpartition("[")[2].strip('"]')


def is_called(path: str, name: str) -> bool:
    """True if `name` is the path, or its last name."""
    return name in (path, owner_and_key(path)[1])


def is_named_for(path: str, parameter: str) -> bool:
    """True if it is named as the gradient of W in the same object: dW, grad_W, W_grad or dLdW; or W in another dict or
    list."""
    (owner, mine), (other, name) = owner_and_key(path), owner_and_key(parameter)
    mine, name = (re.sub(r"[\W_]", "", each).lower() for each in (mine, name))
    before, found, after = mine.rpartition(name)
    return owner == other and bool(found) and not (before and after) and bool(_AFFIX.fullmatch(before + after))


def is_numeric(value: Any) -> bool:
    """True for an array of real, complex or exact numbers, or for such a number."""
    return isinstance(value, float | Number) or getattr(getattr(value, "dtype", None), "kind", "") in tuple("fcO")


def members(path: str, thing: Any) -> list[tuple[str, Any]]:
    """Return the contents of an object, each with its path."""
    if isinstance(thing, dict):
        return [(f'{path}["{key}"]', value) for key, value in thing.items()]
    if isinstance(thing, list | tuple):
        return [(f"{path}[{number}]", value) for number, value in enumerate(thing)]
    return [(f"{path}.{name}".lstrip("."), value) for name, value in attributes_of(thing).items()]


def arrays_given(names: Sequence[str], inputs: Sequence[Any]) -> dict[str, Array]:
    """Return forward's input arrays by name, those of a list one by one."""
    parts: list[tuple[str, Any]] = []
    for name, value in zip(names, inputs, strict=True):
        parts += members(name, value) if isinstance(value, list) else [(name, value)]
    return {name: value for name, value in parts if isinstance(value, np.ndarray)}


def values_at(thing: Any, path: str = "") -> Values:
    """Return every number, array, module and None in an object, at any depth."""
    return dict(leaves(thing, lambda each: each is None or is_numeric(each) or isinstance(each, ModuleType), path))


def leaves(
    thing: Any, is_leaf: Function, path: str = "", inside: Callable[[str, Any], list[tuple[str, Any]]] = members
) -> Iterator[tuple[str, Any]]:
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


def arrays_held_by(layer: Any) -> list[str]:
    """Return the paths of float arrays, not Parameters, among the attributes of a layer and its parts."""
    found = list[str]()
    for path, part in named_parts(layer):
        if hasattr(part, "forward"):
            found += [name for name, value in members(path, part) if is_float_array(value)]
    return found


def snapshot(thing: Any) -> Values:
    """Return each number and array, with a copy."""
    return {path: (value, np.copy(value)) for path, value in values_at(thing).items() if is_numeric(value)}


def changed(values: Values, before: Values) -> list[str]:
    """Return the paths of the numbers and arrays that differ from the snapshot."""

    def is_as_before(path: str, value: Any) -> bool:
        then, copied = before.get(path, (None, None))
        return then is value and np.array_equal(value, copied, equal_nan=True)

    return [path for path, value in values.items() if is_numeric(value) and not is_as_before(path, value)]


def whose(returned: Any, inputs: Values, wrt: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the names of the inputs with a gradient, each with its key in backward's result, or None if nothing fits.

    In a dict a gradient is named for its input. Otherwise there is one for each input (or None), for each array of
    floats, or for each array and float. wrt: the names of the inputs to derive by."""
    if isinstance(returned, dict):
        named = {name: [key for key in returned if is_named_for(key, name)] for name in inputs}
        return {name: keys[0] for name, keys in named.items() if keys}
    arrays = [name for name, value in inputs.items() if is_float_array(value)]
    numbers = [name for name, value in inputs.items() if name in arrays or isinstance(value, float | np.floating)]
    parts = as_list(returned)
    for names in (list(inputs), arrays, numbers):
        if len(parts) == len(names):
            theirs = {name: key for key, name in enumerate(names) if parts[key] is not None}
            if theirs.keys() <= set(numbers):
                return {name: key for name, key in theirs.items() if wrt is None or name in wrt}
    return None


def pairs_of(
    parameters: Values, values: Values, written: list[str], grads: Grads, used: list[str]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the parameters that have or need a gradient, each once, with the paths of the arrays that add up to it;
    and the other arrays that y depends on. For each candidate, the first that holds:

    1. Its gradient is the one that the caller names (None: a constant).
    2. It is the only written array that is named for it, in the same object.
    3. If y depends on it: it is the only other written array of its shape, in the same object.
    4. It is missing, and so wrong, if the object has another gradient, or a room for this one, such as self.db = None.
    5. It is a constant.

    If several objects hold a parameter, their gradients add up, unless backward returns the sum.

    parameters: the candidates. values: all after backward. written: by backward. grads: the caller's pairs, by the path
    or name of a parameter. used: those that y depends on.

    Raises: ValueError if several arrays have the shape.
    """
    found, unnamed = dict[str, list[str]](), Values()
    for path, value in parameters.items():
        words = [name for name in grads if is_called(path, name)]
        named = _once([each for each in written if is_named_for(each, path)], values)
        if words:
            found |= _said(path, words[0], grads[words[0]], [*written, *values])
        elif len(named) == 1:
            found[path] = named
        elif path in used:
            unnamed[path] = value
    free = {each: values[each] for each in written if not any(each in paths for paths in found.values())}
    owners, constants = {owner_and_key(path)[0] for path in found}, []
    for path, value in unnamed.items():
        like, twins = (_alike(path, value, among) for among in (free, unnamed))
        if like and len(like) == len(twins) == 1:
            found[path] = like
        elif like:
            raise ValueError(
                f"backward writes {', '.join(like)}, and any may be the gradient of {', '.join(twins)}; name it, as in "
                f"grads={dict(zip(twins, like, strict=False))}"
            )
        elif owner_and_key(path)[0] in owners or any(is_named_for(each, path) for each in values if each != path):
            found[path] = []
        else:
            constants.append(path)
    by_array = dict[int, tuple[str, list[str]]]()
    for path in [path for path in parameters if path in found]:
        by_array.setdefault(id(parameters[path]), (path, []))[1].extend(found[path])
    return {path: tuple(_once(_final(paths), values)) for path, paths in by_array.values()}, constants


def _final(paths: list[str]) -> list[str]:
    """Return those of a parameter's gradients that backward returns, which include the others; or all."""
    return [path for path in paths if path.startswith("returned")] or paths


def once(pairs: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return each value once, with its first path."""
    found = dict[int, tuple[str, Any]]()
    for path, value in pairs:
        found.setdefault(id(value), (path, value))
    return list(found.values())


def _once(paths: list[str], values: Values) -> list[str]:
    """Return the first path of each array."""
    return [path for path, _ in once((path, values[path]) for path in paths)]


def _alike(path: str, value: Any, among: Values) -> list[str]:
    """Return the paths of the arrays of this shape in the same object, each array once."""
    owner = owner_and_key(path)[0]
    like = [each for each, other in among.items() if np.shape(other) == np.shape(value)]
    return _once([each for each in like if owner_and_key(each)[0] == owner], among)


def _said(path: str, word: str, gradient: str | None, paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the parameter with the gradient that the caller named; {} for a constant."""
    if gradient is None:
        return {}
    for each in paths:
        if is_called(each, gradient):
            return {path: [each]}
    raise ValueError(f"grads has {gradient!r} for {word}, but backward writes nothing of that name")
