"""Finds the arrays in an object, and pairs parameters with gradients."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.number import Number
from npbert.gradcheck.inputs import is_float_array
from npbert.gradcheck.report import Gradients
from npbert.gradcheck.restoring import attributes_of

_AFFIX = re.compile(r"(d|dl|dj|dloss|delta|g|grads?|gradients?)?(d|of)?")

Grads = Mapping[str, str | None]


class Place(NamedTuple):
    """A value in an object, with its path, the path of the innermost object that holds it, and its name there."""

    path: str
    owner: str
    key: str
    value: Any

    def is_called(self, name: str) -> bool:
        """True if `name` is the path, or its last name."""
        return name in (self.path, self.key)

    def is_named_for(self, parameter: "Place") -> bool:
        """True if it is named as the gradient of W in the same object: dW, grad_W, W_grad or dLdW; or W in another dict
        or list."""
        if self.owner != parameter.owner:
            return False
        mine, name = (re.sub(r"[\W_]", "", place.key).lower() for place in (self, parameter))
        before, found, after = mine.rpartition(name)
        return bool(found) and not (before and after) and bool(_AFFIX.fullmatch(before + after))

    def is_like(self, parameter: "Place") -> bool:
        """True for an array of the same shape in the same object."""
        return self.owner == parameter.owner and np.shape(self.value) == np.shape(parameter.value)


class Pair(NamedTuple):
    """A parameter, and the paths of the arrays that add up to its gradient: none if backward writes none, several if
    several objects hold the parameter."""

    parameter: Place
    gradients: tuple[str, ...]


def is_number(value: Any) -> bool:
    """True for an array of real, complex or exact numbers, or for such a number."""
    return isinstance(value, float | Number) or getattr(getattr(value, "dtype", None), "kind", "") in tuple("fcO")


def places_in(thing: Any, path: str = "") -> list[Place]:
    """Return every place in an object, at any depth, with a number, an array, a module or None."""
    return list(_walk(Place(path, "", path, thing), {}))


def _walk(place: Place, seen: dict[int, Any]) -> Iterator[Place]:
    thing = place.value
    if thing is None or is_number(thing) or isinstance(thing, ModuleType):
        yield place
    elif id(thing) not in seen:
        seen[id(thing)] = thing
        owner = place.owner if isinstance(thing, dict | list | tuple) else place.path
        for path, key, member in members(place.path, thing):
            yield from _walk(Place(path, owner, str(key), member), seen)


def members(path: str, thing: Any) -> list[tuple[str, Any, Any]]:
    """Return (path, key, value) of the contents of an object."""
    if isinstance(thing, dict):
        return [(f'{path}["{key}"]', key, value) for key, value in thing.items()]
    if isinstance(thing, list | tuple):
        return [(f"{path}[{number}]", number, value) for number, value in enumerate(thing)]
    return [(f"{path}.{name}".lstrip("."), name, value) for name, value in attributes_of(thing).items()]


def snapshot(thing: Any) -> dict[str, tuple[Any, Any]]:
    """Return each number and array by path, with a copy."""
    return {place.path: (place.value, np.copy(place.value)) for place in places_in(thing) if is_number(place.value)}


def changed(places: list[Place], before: dict[str, tuple[Any, Any]]) -> list[Place]:
    """Return the numbers and arrays that have changed."""

    def is_as_before(place: Place) -> bool:
        value, copied = before.get(place.path, (None, None))
        return value is place.value and np.array_equal(value, copied, equal_nan=True)

    return [place for place in places if is_number(place.value) and not is_as_before(place)]


def arrays_given(names: list[str], inputs: Sequence[Any]) -> Gradients:
    """Return forward's input arrays by name: those of a list one by one, each array once."""
    found = dict[int, tuple[str, Array]]()
    for name, value in zip(names, inputs, strict=True):
        parts = enumerate(value) if isinstance(value, list) else [(None, value)]
        for number, part in parts:
            if isinstance(part, np.ndarray):
                found.setdefault(id(part), (name if number is None else f"{name}[{number}]", part))
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
        keys = [Place("", "", key, None) for key in returned]
        named = {
            p: [key.key for key in keys if key.is_named_for(Place("", "", name, None))] for p, name in enumerate(names)
        }
        return {p: found[0] for p, found in named.items() if found}
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
    parameters: list[Place],
    places: list[Place],
    written: list[Place],
    grads: Grads,
    moves: Callable[[list[Place]], bool],
) -> tuple[list[Pair], list[Place]]:
    """Return the parameters that have or need a gradient, each once, and the other arrays that y depends on.

    parameters: the candidates. places: all places after backward. written: the places that backward wrote. grads: the
    caller's pairs, by the path or name of a parameter. moves: whether y depends on these.

    Raises: ValueError if several pairings fit.
    """
    found: dict[str, tuple[str, ...]] = {}
    rest, constants = [], list[Place]()
    for parameter in parameters:
        word = next((name for name in grads if parameter.is_called(name)), None)
        named = _alike([each for each in written if each.is_named_for(parameter)])
        if word is not None:
            found[parameter.path] = _said(word, grads[word], [*written, *places])
        elif len(named) == 1:
            found[parameter.path] = (named[0].path,)
        else:
            rest.append(parameter)
    taken = {path for paths in found.values() for path in paths}
    owners = {each.owner for each in parameters if found.get(each.path)}
    learned = [each for each in rest if moves([each])] if moves(rest) else []
    for parameter in learned:
        like = _alike([each for each in written if each.is_like(parameter) and each.path not in taken])
        twins = _alike([each for each in learned if each.is_like(parameter)])
        if len(like) == 1 and len(twins) == 1:
            found[parameter.path] = (like[0].path,)
        elif like:
            _ask(twins, like)
        elif parameter.owner in owners or _has_a_name_for(parameter, places):
            found[parameter.path] = ()
        else:
            constants.append(parameter)
    is_constant = {
        each.path for each in parameters if any(each.is_called(name) for name in grads if grads[name] is None)
    }
    return _joined([each for each in parameters if each.path in found.keys() - is_constant], found), constants


def _has_a_name_for(parameter: Place, places: list[Place]) -> bool:
    """True if the object has a place for the gradient, such as self.db = None."""
    return any(each.is_named_for(parameter) for each in places if each.path != parameter.path)


def _alike(places: list[Place]) -> list[Place]:
    """Return the first of the places with the same value."""
    return list({id(place.value): place for place in reversed(places)}.values())[::-1]


def _said(parameter: str, gradient: str | None, places: list[Place]) -> tuple[str, ...]:
    found = next((place.path for place in places if gradient and place.is_called(gradient)), "")
    if gradient and not found:
        raise ValueError(f"grads has {gradient!r} for {parameter}, but backward writes nothing of that name")
    return (found,) if found else ()


def _ask(parameters: list[Place], gradients: list[Place]) -> None:
    names, ones = (", ".join(each.path for each in places) for places in (parameters, gradients))
    word = {parameter.path: gradient.path for parameter, gradient in zip(parameters, gradients, strict=False)}
    raise ValueError(f"backward writes {ones}, and any may be the gradient of {names}; name it, as in grads={word}")


def _joined(parameters: list[Place], found: dict[str, tuple[str, ...]]) -> list[Pair]:
    """Return each array once, with all its gradients."""
    joined: dict[int, Pair] = {}
    for place in parameters:
        known = joined.get(id(place.value), Pair(place, ()))
        gradients = dict.fromkeys([*known.gradients, *found[place.path]])
        joined[id(place.value)] = Pair(known.parameter, tuple(gradients))
    return list(joined.values())
