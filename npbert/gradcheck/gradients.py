"""find: which arrays are the gradients of which variables. One rule, for every Form.

Variables are the arrays of floats that forward is given and leaves: among its inputs, and in the object, in objects
within it, and in their lists and dicts. Gradients are the arrays that backward writes: in its result, and in the
object. For each variable, the first that holds:

1. Its gradient is the array that `grads` names (None: a constant).
2. An input: the part of backward's result at its place (`Form.places_of`).
3. The only written array that is named for it, in the same object: dW, grad_W, W_grad, dLdW, or W in another dict or
   list.
4. A parameter that y depends on: the only other written array of its shape, in the same object; or its own change, if
   backward takes a learning rate.
5. Such a parameter has none, which is wrong, if its object has another gradient, or a room for it: self.db = None.
6. It is a constant.

If several objects hold a parameter, their gradients add up, unless that of an object around the others is their sum, or
backward returns it. Where two arrays fit, the check asks for `grads`, and where no place fits, for `wrt`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.exact.number_modules import told
from npbert.gradcheck.forms import Form, is_number, plain
from npbert.gradcheck.forward import check_written
from npbert.gradcheck.inputs import as_tuple, is_float_array, mapped
from npbert.gradcheck.paths import (
    Values,
    changed,
    is_called,
    is_named_for,
    is_numeric,
    once,
    owner_of,
    snapshot,
    values_at,
)
from npbert.gradcheck.report import GradientError

Grads = Mapping[str, str | None]
Pairs = dict[str, tuple[str, ...]]
"""The paths of the arrays that add up to a variable's gradient, by the path of the variable."""
_INPUTS = "inputs", "input", "x"  # the names in the gradient of an only input
_MOST_NAMED = 6


class Seen(NamedTuple):
    """A forward and a backward: y, dy, all values after them by path, the arrays that backward wrote, and the input of
    each part of its result (`Form.places_of`)."""

    y: Any
    dy: Any
    after: Values
    written: Values
    places: dict[str, str]


def find(form: Form, grads: Grads, wrt: Sequence[str]) -> None:
    """Set the variables of the form and their gradients. It runs once to create parameters, then forward and backward,
    then forward with each array of the object moved alone.

    Raises: ValueError for an ambiguous gradient; GradientError for a template, or a backward that changes a parameter;
    errors of forward, and of an object's backward."""
    if unknown := set(wrt) - form.inputs().keys():
        raise ValueError(f"wrt has {', '.join(sorted(unknown))}, wanted inputs: {', '.join(form.inputs())}")
    chosen = {name: np.array(form.arguments[name], float) for name in wrt if is_number(form.arguments.get(name))}
    if chosen:
        form.take(form.arguments | chosen)
    able = {name: value for name, value in form.values.items() if is_float_array(value) and not form.is_in_dict(name)}
    form.gradients = dict.fromkeys(wrt or able)
    seen = _seen(form, wrt)
    if seen is None:
        return  # the check reports the error of backward, or how many gradients it wants
    left, used = _moved_alone(form, seen)
    pairs, constants = _pairs(able, left, seen, used, grads)
    parameters = {path: paths for path, paths in pairs.items() if path in left}
    others = form.inputs().keys() - (wrt or pairs)
    form.gradients = {path: paths for path, paths in pairs.items() if path not in others}
    constants = [name for name in able if name not in (*form.gradients, *form.numbers)] + constants
    form.note = _note(parameters, constants)
    form.values |= {path: left[path] for path in parameters}
    form.hold(form.thing, {path for paths in pairs.values() for path in paths})


def _seen(form: Form, wrt: Sequence[str]) -> Seen | None:
    """Return what a forward and a backward do; None if backward raises without an object, or its result has another
    number of gradients, which the check reports."""
    with told("forward"):
        kept = form.ran()
    form.hold(kept.thing)
    if isinstance(kept.y, tuple) and not form.takes_dy:
        form.loss = form.place_of_loss(kept.y)
    kept = form.ran()
    check_written("forward", kept.y)
    held = values_at(kept.thing)
    before = snapshot(held)
    dy = mapped(lambda part: np.random.default_rng(0).standard_normal(np.shape(plain(part))), kept.y)
    try:
        with told("backward"):
            returned, after = form.undone(dy, kept)
    except GradientError as error:
        if form.thing is None and not isinstance(error.__cause__, NotImplementedError):
            return None
        raise
    filled = changed(before)
    written = {
        path: value
        for path, value in after.items()
        if is_numeric(value) and (path in filled or value is not held.get(path))
    }
    if not written:
        check_written("backward", returned)
    if form.may_ignore_dy and not np.ndim(kept.y):
        again, _ = form.undone(2.0 * dy, form.ran())
        form.takes_dy = not all(map(np.array_equal, as_tuple(again), as_tuple(returned)))
    places = form.places_of(kept.y, returned, wrt)
    return None if places is None else Seen(kept.y, dy, after, written, places)


def _moved_alone(form: Form, seen: Seen) -> tuple[Values, list[str]]:
    """Run forward with each array of floats of the object, and each in a dict among the inputs, moved alone. Returns
    those that it leaves, without those that only backward writes, and the paths of those that y depends on."""
    left, used = Values(), list[str]()
    given = {name: value for name, value in form.values.items() if form.is_in_dict(name)}
    held = values_at(form.thing)
    for path, value in [*given.items(), *held.items()]:
        if is_float_array(value):
            by = np.random.default_rng(1).uniform(-1, 1, value.shape)
            for other in (value * (1.2 + 0.1 * by), 10 * by * (1 + abs(value))):  # far, if units are dead nearby
                kept = form.ran(others={id(value): np.copy(other)})
                is_left = path in given or np.array_equal(values_at(kept.thing).get(path, ()), other)
                is_used = not all(map(np.array_equal, as_tuple(kept.y), as_tuple(seen.y)))
                if is_used:
                    break
            if is_left and (is_used or path not in seen.written):
                if path in held and path in form.values:
                    raise ValueError(f"{path} is an input of forward and an array of the object, wanted other names")
                left[path] = value
                used += [path] * is_used
                if path in seen.written and not form.takes_step:
                    where = form.place_of_change(path, seen.dy)
                    raise GradientError(
                        f"backward changes the value of {path}{where}: only an optimizer may, or a backward that takes "
                        "a learning_rate"
                    )
    return left, used


def _pairs(able: Values, left: Values, seen: Seen, used: list[str], grads: Grads) -> tuple[Pairs, list[str]]:
    """Return the inputs and arrays of the object that have or need a gradient, each once, with the paths of its
    gradients; and the other arrays that y depends on."""
    variables, places = able | left, seen.places
    taken = {id(seen.after.get(path)) for path in places}
    free = {path: value for path, value in seen.written.items() if id(value) not in taken}
    found, unnamed = dict[str, list[str]](), Values()
    for path, value in variables.items():
        words = [name for name in grads if is_called(path, name)]
        placed = [part for part, name in places.items() if name == path]
        names = [path] if path in left or not places else []
        names += _INPUTS if [*able] == [path] == names else ()
        named = _once([each for each in free if any(is_named_for(each, name) for name in names)], free)
        if words:
            found |= _said(path, words[0], grads[words[0]], [*seen.written, *seen.after])
        elif path in left and path in seen.written:
            found[path] = [path]  # a step
        elif placed or len(named) == 1:
            found[path] = placed or named
        elif path in used or named:
            unnamed[path] = value
    free = {path: value for path, value in free.items() if not any(path in paths for paths in found.values())}
    _by_shape(unnamed, free, {owner_of(path) for path in found if path in used}, found, seen.after)
    pairs = Pairs()
    for path, value in once((path, variables[path]) for path in variables if path in found):
        paths = [each for other in found if variables[other] is value for each in found[other]]
        returned = [each for each in paths if each.startswith("returned")]  # it includes the others
        pairs[path] = tuple(_summed(_once(returned or paths, seen.after), seen.after))
    return pairs, [path for path in unnamed if path not in found]


def _by_shape(unnamed: Values, free: Values, owners: set[str], found: dict[str, list[str]], after: Values) -> None:
    """Add the gradients of these variables: the only other array of the shape; or none, as it is missing. The others
    are constants."""
    for path, value in unnamed.items():
        like, twins = (_alike(path, value, among) for among in (free, unnamed))
        if like and len(like) == len(twins) == 1:
            found[path] = like
        elif like:
            raise ValueError(
                f"backward writes {', '.join(like)}, and any may be the gradient of {', '.join(twins)}; name it, as in "
                f"grads={dict(zip(twins, like, strict=False))}"
            )
        elif owner_of(path) in owners or any(is_named_for(each, path) for each in after if each != path):
            found[path] = []


def _once(paths: Iterable[str], values: Values) -> list[str]:
    """Return the first path of each array."""
    return [path for path, _ in once((path, values.get(path, path)) for path in paths)]


def _summed(paths: list[str], values: Values) -> list[str]:
    """Return the path of an array that is the sum of all others, which are in objects within its own; or all paths."""
    for path in paths if len({np.shape(values.get(each, ())) for each in paths}) == 1 else ():
        within = f"{owner_of(path)}.".lstrip(".")
        inner = [values[each] for each in paths if owner_of(each) != owner_of(path) and each.startswith(within)]
        if 0 < len(inner) == len(paths) - 1 and np.allclose(values[path], sum(inner)):
            return [path]
    return paths


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

    def some(names: list[str]) -> str:
        return ", ".join(names if len(names) <= _MOST_NAMED else [*names[:3], "…", names[-1]])

    says = []
    if pairs:
        gradients = [f"{path} -=" if found == (path,) else " + ".join(found) or "none" for path, found in pairs.items()]
        says.append(f"Parameters {some(list(pairs))}; their gradients {some(gradients)}.")
    says += [
        f"Backward writes no gradient for {path}; if it is a constant, give grads={{{path!r}: None}}."
        for path, found in pairs.items()
        if not found
    ]
    if constants:
        says.append(f"Taken for constants: {some(constants)}.")
    return " ".join(says)
