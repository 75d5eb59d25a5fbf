"""find: which arrays are the gradients of which variables. One rule, for every Form.

Variables are the arrays of floats that forward is given and leaves: among its inputs, and in the object, in objects
within it, and in their lists and dicts. Gradients are the arrays that backward writes: in its result, and in the
object. For each variable, the first that holds:

1. Its gradient is the array that `grads` names (None: a constant).
2. An input: the part of backward's result at its place. There is a part for each input (or None), for each array, or
   for each array of floats. Parts for parameters may follow. A loss may have fewer, for the first inputs of their
   shapes.
3. The only written array that is named for it, in the same object: dW, grad_W, W_grad, dLdW, or W in another dict or
   list.
4. A parameter that y depends on: the only other written array of its shape, in the same object; or its own change, if
   backward takes a learning rate.
5. Such a parameter has none, which is wrong, if its object has another gradient, or a room for it: self.db = None.
6. It is a constant.

If several objects hold a parameter, their gradients add up, unless backward returns the sum. Where two arrays fit, the
check asks for `grads`, and where no place fits, for `wrt`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.exact.number_modules import told
from npbert.gradcheck.forms import Form, Kept, is_number, plain
from npbert.gradcheck.forward import check_written
from npbert.gradcheck.inputs import as_tuple, is_float_array, mapped
from npbert.gradcheck.paths import (
    Values,
    changed,
    is_called,
    is_in_dict,
    is_named_for,
    listed,
    once,
    owner_of,
    snapshot,
    values_at,
)
from npbert.gradcheck.report import GradientError
from npbert.io import counted

Grads = Mapping[str, str | None]
Pairs = dict[str, tuple[str, ...]]
"""The paths of the arrays that add up to a variable's gradient, by the path of the variable."""
_INPUTS = "inputs", "input", "x"  # the names in the gradient of an only input
_MOST_NAMED = 6
_LITTLE = 1e-6


class Seen(NamedTuple):
    """A forward and a backward: y, backward's result, all values after it by path, and those that it wrote."""

    y: Any
    returned: Any
    after: Values
    written: Values


def find(form: Form, grads: Grads, wrt: Sequence[str] | None) -> None:
    """Set the variables of the form and their gradients. It runs once to create parameters, then forward and backward,
    then forward with each array of the object moved alone.

    Raises: ValueError for an ambiguous gradient; GradientError for a template, or a backward that changes a parameter;
    errors of forward, and those of an object's backward."""
    inputs = form.inputs()
    if unknown := set(wrt or ()) - inputs.keys():
        raise ValueError(f"wrt has {', '.join(sorted(unknown))}, wanted inputs: {', '.join(inputs)}")
    able = {name: value for name, value in inputs.items() if _is_able(form, name, value, wrt or ())}
    chosen = able if wrt is None else {name: able[name] for name in wrt if name in able}
    form.gradients, form.is_read = dict.fromkeys(chosen, ()), False
    seen = _seen(form)
    found = _by_place(form, seen, able, wrt) if seen else None
    if seen is None or found is None:
        return  # the check reports the error of backward, or how many gradients it wants
    taken = {id(seen.after.get(path)) for paths in found.values() for path in paths}
    seen = seen._replace(written={path: value for path, value in seen.written.items() if id(value) not in taken})
    left, used = _moved_alone(form, seen.y)
    steps = {path: (path,) for path in used if path in seen.written}
    if steps and not form.takes_step:
        raise GradientError(f"backward changes the value of {min(steps)}: only an optimizer may")
    floats = [name for name in form.values if name in able]
    named = {name: value for name, value in once(chosen.items()) if not found or is_in_dict(name)}
    variables = named | {path: value for path, value in left.items() if path not in seen.written}
    pairs, constants = _by_name_or_shape(
        variables, seen, used, grads, {name: _INPUTS for name in floats if len(floats) == 1}
    )
    parameters = steps | {path: paths for path, paths in pairs.items() if path in left}
    form.gradients, form.is_read = found | pairs | steps, True
    form.note = _note(parameters, [name for name in floats if name not in form.gradients] + constants)
    form.take(
        [
            np.array(value, float) if name in form.gradients and not is_float_array(value) else value
            for name, value in form.named()
        ]
    )
    form.values |= {path: left[path] for path in parameters}
    form.hold(form.thing, {path for paths in form.gradients.values() for path in paths})


def _is_able(form: Form, name: str, value: Any, wrt: Sequence[str]) -> bool:
    """True if an input can have a gradient: an array of floats, a function's number, or another number in wrt."""
    is_float = form.thing is None and isinstance(value, float | np.floating)
    return is_float_array(value) or (name in form.names and (is_float or (name in wrt and is_number(value))))


def _seen(form: Form) -> Seen | None:
    """Return what a forward and a backward do; None if backward raises without an object, which the check reports."""
    form.loss = _place_of_loss(form)
    form.hold(_ran(form).thing)
    kept = _ran(form)
    check_written("forward", kept.y)
    before = snapshot(kept.thing)
    dy = mapped(lambda part: np.random.default_rng(0).standard_normal(np.shape(plain(part))), kept.y)
    try:
        with told("backward"):
            returned, after = form.undone(dy, kept)
    except GradientError as error:
        if form.thing is None and not isinstance(error.__cause__, NotImplementedError):
            return None
        raise
    written = {path: after[path] for path in changed(after, before)}
    if not written:
        check_written("backward", returned)
    return Seen(kept.y, returned, after, written)


def _ran(form: Form) -> Kept:
    with told("forward"):
        return form.ran(list(form.values.values()))


def _place_of_loss(form: Form) -> int | None:
    """Return the place of a loss among forward's results: the first number that moves a little with the inputs, as an
    accuracy does not; None if forward returns one result, or backward takes a dy."""
    here = _ran(form).y
    if form.takes_dy or not isinstance(here, tuple):
        return None
    near = [value * (1 + _LITTLE) if is_float_array(value) else value for value in form.values.values()]
    there = form.ran(near).y
    numbers = [place for place, part in enumerate(here) if is_number(part) and np.ndim(part) == 0]
    return next((place for place in numbers if here[place] != there[place]), min(numbers, default=None))


def _by_place(form: Form, seen: Seen, able: Values, wrt: Sequence[str] | None) -> Pairs | None:
    """Return the inputs whose gradients are parts of backward's result, by their places; None if no reading fits. What
    is in dicts has names, and no place."""
    parts = {path: part for path, part in listed(seen.returned, "returned").items() if not is_in_dict(path)}
    given = [path for path, part in parts.items() if part is not None]
    places = {name: value for name, value in form.inputs().items() if not is_in_dict(name)}
    pairs = _fitting(places, able, list(parts), given, wrt) if given else []
    if pairs is None and form.thing is not None:  # those of parameters follow
        pairs = zip([name for name in form.values if name in able and name in (wrt or able)], parts, strict=False)
    elif pairs is None and wrt is None and is_number(seen.y) and np.ndim(plain(seen.y)) == 0:
        pairs = zip(_of_these_shapes(parts, able), parts, strict=True)
    if pairs is None:
        return None
    first, found = {id(value): name for name, value in form.values.items()}, dict[str, tuple[str, ...]]()
    for name, path in pairs:
        if path in given and name in (wrt or able):
            name = first.get(id(places[name]), name)
            found[name] = (*found.get(name, ()), path)
    return found


def _fitting(
    places: Values, able: Values, parts: list[str], given: list[str], wrt: Sequence[str] | None
) -> list[tuple[str, str]] | None:
    """Return the inputs with their parts in the first reading that fits: the inputs in wrt; all; without None, those
    that can have a gradient; of these the arrays; and then the same with each array once.

    given: the parts that are not None."""
    readings = [(list(wrt or ()), parts)]
    for names in (list(places), [name for name, _ in once(places.items())]):
        readings.append((names, parts))
        readings.append(([name for name in names if name in able], given))
        readings.append(([name for name in names if is_float_array(places[name])], given))
    for names, paths in readings:
        if len(names) == len(paths) and all(name in able for name, path in zip(names, paths) if path in given):
            return list(zip(names, paths, strict=True))
    return None


def _of_these_shapes(parts: Values, able: Values) -> list[str]:
    """Return the first inputs, in order, with the shapes of the gradients of a loss."""
    names, rest = list[str](), iter(able.items())
    for shape in map(np.shape, parts.values()):
        name = next((name for name, value in rest if np.shape(value) == shape), None)
        if name is None:
            raise ValueError(
                f"backward returns {counted(len(parts), 'gradient')}, one of shape {shape}, which no remaining input "
                "has; name their inputs, as in wrt=('x',)"
            )
        names.append(name)
    return names


def _moved_alone(form: Form, y: Any) -> tuple[Values, list[str]]:
    """Run forward with each array of floats of the object moved alone. Returns the arrays that it leaves, and the paths
    of those that y depends on."""
    left, used = Values(), list[str]()
    for path, value in values_at(form.thing).items():
        if is_float_array(value):
            other = np.asarray(value * 1.25 + np.random.default_rng(1).uniform(0.1, 0.2, value.shape))
            kept = form.ran(list(form.values.values()), {id(value): np.copy(other)})
            now_there: Any = values_at(kept.thing).get(path)
            if np.array_equal(now_there, other):
                left[path] = value
                if not all(map(np.array_equal, as_tuple(kept.y), as_tuple(y))):
                    used.append(path)
    return left, used


def _by_name_or_shape(
    variables: Values, seen: Seen, used: list[str], grads: Grads, aliases: Mapping[str, Sequence[str]]
) -> tuple[Pairs, list[str]]:
    """Return the variables that have or need a gradient, each array once, with the paths of its gradients; and the
    other arrays that y depends on. aliases: other names of an only input."""
    found, unnamed = dict[str, list[str]](), Values()
    for path, value in variables.items():
        names, words = (path, *aliases.get(path, ())), [name for name in grads if is_called(path, name)]
        named = _once([each for each in seen.written if any(is_named_for(each, name) for name in names)], seen.after)
        if words:
            found |= _said(path, words[0], grads[words[0]], [*seen.written, *seen.after])
        elif len(named) == 1:
            found[path] = named
        elif path in used or named:
            unnamed[path] = value
    free = {path: value for path, value in seen.written.items() if not any(path in paths for paths in found.values())}
    owners, constants = {owner_of(path) for path in found}, []
    for path, value in unnamed.items():
        like, twins = (_alike(path, value, among) for among in (free, unnamed))
        if like and len(like) == len(twins) == 1:
            found[path] = like
        elif like:
            raise ValueError(
                f"backward writes {', '.join(like)}, and any may be the gradient of {', '.join(twins)}; name it, as in "
                f"grads={dict(zip(twins, like, strict=False))}"
            )
        elif owner_of(path) in owners or any(is_named_for(each, path) for each in seen.after if each != path):
            found[path] = []
        else:
            constants.append(path)
    pairs = Pairs()
    for path, value in once((path, variables[path]) for path in variables if path in found):
        paths = [each for other in found if variables[other] is value for each in found[other]]
        returned = [each for each in paths if each.startswith("returned")]  # it includes the others
        pairs[path] = tuple(_once(returned or paths, seen.after))
    return pairs, constants


def _once(paths: Iterable[str], values: Values) -> list[str]:
    """Return the first path of each array."""
    return [path for path, _ in once((path, values[path]) for path in paths)]


def _alike(path: str, value: Any, among: Values) -> list[str]:
    """Return the paths of the arrays of this shape in the same object, each array once."""
    like = (each for each, other in among.items() if np.shape(other) == np.shape(value))
    return _once((each for each in like if owner_of(each) == owner_of(path)), among)


def _said(path: str, word: str, gradient: str | None, paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the variable with the gradient that the caller named; {} for a constant."""
    if gradient is None:
        return {}
    for each in paths:
        if is_called(each, gradient):
            return {path: [each]}
    raise ValueError(f"grads has {gradient!r} for {word}, but backward writes nothing of that name")


def _note(pairs: Pairs, constants: list[str]) -> str:
    """Return sentences on the pairs found."""
    says = []
    if pairs:
        gradients = [f"{path} -=" if found == (path,) else " + ".join(found) or "none" for path, found in pairs.items()]
        says.append(f"Parameters {_some(list(pairs))}; their gradients {_some(gradients)}.")
    for path in [path for path, found in pairs.items() if not found]:
        says.append(f"Backward writes no gradient for {path}; if it is a constant, give grads={{{path!r}: None}}.")
    if constants:
        says.append(f"Taken for constants: {_some(constants)}.")
    return " ".join(says)


def _some(names: list[str]) -> str:
    return ", ".join(names if len(names) <= _MOST_NAMED else [*names[:3], "…", names[-1]])
