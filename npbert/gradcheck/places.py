"""Finds the arrays in an object by their paths, and pairs parameters with gradients."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.number import Number
from npbert.gradcheck.inputs import is_float_array
from npbert.gradcheck.restoring import attributes_of

_PATH = re.compile(r"((?:.*\.)?)([^.\[]*)((?:\[.*\])?)", re.DOTALL)  # of the owner, attribute, items
_AFFIX = re.compile(r"(d|dl|dj|dloss|delta|g|grads?|gradients?)?(d|of)?")

Grads = Mapping[str, str | None]
Values = dict[str, Any]
"""What an object holds, by path: layers[0].params["W"]."""


class Pair(NamedTuple):
    """The path of a parameter, and those of the arrays that add up to its gradient: none if backward writes none,
    several if several objects hold the parameter."""

    parameter: str
    gradients: tuple[str, ...]


def owner_and_key(path: str) -> tuple[str, str]:
    """Return the path of the innermost object that holds a value, and the value's name there: of an attribute, or of an
    item of a dict or list."""
    found = _PATH.fullmatch(path)
    owner, name, items = found.groups() if found else ("", path, "")
    return owner, items.rpartition("[")[2].strip('"]') or name


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


def is_number(value: Any) -> bool:
    """True for an array of real, complex or exact numbers, or for such a number."""
    return isinstance(value, float | Number) or getattr(getattr(value, "dtype", None), "kind", "") in tuple("fcO")


def values_at(thing: Any, path: str = "") -> Values:
    """Return every number, array, module and None in an object, at any depth."""
    found: Values = {}
    seen: dict[int, Any] = {}
    waiting = [(path, thing)]
    while waiting:
        path, thing = waiting.pop(0)
        if thing is None or is_number(thing) or isinstance(thing, ModuleType):
            found[path] = thing
        elif id(thing) not in seen:
            seen[id(thing)] = thing
            waiting[:0] = members(path, thing)
    return found


def members(path: str, thing: Any) -> list[tuple[str, Any]]:
    """Return the contents of an object, each with its path."""
    if isinstance(thing, dict):
        return [(f'{path}["{key}"]', value) for key, value in thing.items()]
    if isinstance(thing, list | tuple):
        return [(f"{path}[{number}]", value) for number, value in enumerate(thing)]
    return [(f"{path}.{name}".lstrip("."), value) for name, value in attributes_of(thing).items()]


def snapshot(thing: Any) -> Values:
    """Return each number and array, with a copy."""
    return {path: (value, np.copy(value)) for path, value in values_at(thing).items() if is_number(value)}


def changed(values: Values, before: Values) -> list[str]:
    """Return the paths of the numbers and arrays that differ from the snapshot."""

    def is_as_before(path: str, value: Any) -> bool:
        then, copied = before.get(path, (None, None))
        return then is value and np.array_equal(value, copied, equal_nan=True)

    return [path for path, value in values.items() if is_number(value) and not is_as_before(path, value)]


def arrays_given(names: list[str], inputs: Sequence[Any]) -> dict[str, Array]:
    """Return forward's input arrays by name: those of a list one by one, each array once."""
    found = dict[int, tuple[str, Array]]()
    for name, value in zip(names, inputs, strict=True):
        for path, part in members(name, value) if isinstance(value, list) else [(name, value)]:
            if isinstance(part, np.ndarray):
                found.setdefault(id(part), (path, part))
    return dict(found.values())


def as_list(returned: Any) -> list[Any]:
    """Return the results of a function as a list."""
    return list(returned) if isinstance(returned, tuple | list) else [returned]


def whose(
    returned: Any, names: Sequence[str], inputs: Sequence[Any], wrt: Sequence[str] | None
) -> dict[int, Any] | None:
    """Return the positions of the inputs with a gradient, each with its key in backward's result, or None if nothing
    fits.

    In a dict a gradient is named for its input. Otherwise there is one for each input (or None), for each array of
    floats, or for each array and float. wrt: the names of the inputs to derive by."""
    if isinstance(returned, dict):
        named = {p: [key for key in returned if is_named_for(key, name)] for p, name in enumerate(names)}
        return {p: keys[0] for p, keys in named.items() if keys}
    arrays = [p for p, value in enumerate(inputs) if is_float_array(value)]
    numbers = [p for p, value in enumerate(inputs) if p in arrays or isinstance(value, float | np.floating)]
    parts = as_list(returned)
    for positions in (range(len(inputs)), arrays, numbers):
        if len(parts) == len(positions):
            theirs = {p: key for key, p in enumerate(positions) if parts[key] is not None}
            if theirs.keys() <= set(numbers):
                return {p: key for p, key in theirs.items() if wrt is None or names[p] in wrt}
    return None


def pairs_of(
    parameters: Values, values: Values, written: list[str], grads: Grads, moves: Callable[[Values], bool]
) -> tuple[list[Pair], list[str]]:
    """Return the parameters that have or need a gradient, each once, and the other arrays that y depends on.

    parameters: the candidates. values: all after backward. written: by backward. grads: the caller's pairs, by the path
    or name of a parameter. moves: whether y depends on these.

    Raises: ValueError if several pairings fit.
    """
    found: dict[str, tuple[str, ...]] = {}
    for path in parameters:
        word = next((name for name in grads if is_called(path, name)), None)
        named = _alike({each: values[each] for each in written if is_named_for(each, path)})
        if word is not None:
            found[path] = _said(word, grads[word], [*written, *values])
        elif len(named) == 1:
            found[path] = tuple(named)
    rest = {path: value for path, value in parameters.items() if path not in found}
    taken = {each for paths in found.values() for each in paths}
    owners = {owner_and_key(path)[0] for path, paths in found.items() if paths}
    learned = {path: value for path, value in rest.items() if moves({path: value})} if moves(rest) else {}
    constants = []
    for path, value in learned.items():

        def is_like(each: str, other: Any, path: str = path, value: Any = value) -> bool:
            return owner_and_key(each)[0] == owner_and_key(path)[0] and np.shape(other) == np.shape(value)

        like = _alike({each: values[each] for each in written if each not in taken and is_like(each, values[each])})
        twins = _alike({each: other for each, other in learned.items() if is_like(each, other)})
        if len(like) == 1 and len(twins) == 1:
            found[path] = tuple(like)
        elif like:
            raise ValueError(
                f"backward writes {', '.join(like)}, and any may be the gradient of {', '.join(twins)}; name it, as in "
                f"grads={dict(zip(twins, like, strict=False))}"
            )
        elif owner_and_key(path)[0] in owners or any(is_named_for(each, path) for each in values if each != path):
            found[path] = ()  # as the object has other gradients, or a place for this one, such as self.db = None
        else:
            constants.append(path)
    is_constant = [name for name in grads if grads[name] is None]
    learned_paths = [path for path in parameters if path in found and not any(is_called(path, n) for n in is_constant)]
    return _joined({path: parameters[path] for path in learned_paths}, found), constants


def _alike(values: Values) -> list[str]:
    """Return the first path of each value."""
    return list({id(value): path for path, value in reversed(values.items())}.values())[::-1]


def _said(parameter: str, gradient: str | None, paths: list[str]) -> tuple[str, ...]:
    found = [path for path in paths if gradient and is_called(path, gradient)]
    if gradient and not found:
        raise ValueError(f"grads has {gradient!r} for {parameter}, but backward writes nothing of that name")
    return tuple(found[:1])


def _joined(parameters: Values, found: dict[str, tuple[str, ...]]) -> list[Pair]:
    """Return each array once, with all its gradients."""
    joined: dict[int, Pair] = {}
    for path, value in parameters.items():
        known = joined.get(id(value), Pair(path, ()))
        joined[id(value)] = Pair(known.parameter, tuple(dict.fromkeys([*known.gradients, *found[path]])))
    return list(joined.values())
