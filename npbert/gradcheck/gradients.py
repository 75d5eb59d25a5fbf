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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.exact.number_modules import told
from npbert.gradcheck.forms import Form, Kept, is_number, plain
from npbert.gradcheck.forward import check_written
from npbert.gradcheck.inputs import as_list, as_tuple, is_float_array, mapped
from npbert.gradcheck.paths import (
    Values,
    changed,
    is_called,
    is_named_for,
    once,
    owner_and_key,
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
    """A forward and a backward. y; returned: backward's result; after: all values after it, by path; written: those
    that backward has written or returned, without those of inputs found by their place."""

    y: Any
    returned: Any
    after: Values
    written: Values

    @property
    def is_named(self) -> bool:
        """True if the gradients of inputs have names, and no places."""
        return isinstance(self.returned, dict) or all(part is None for part in as_list(self.returned))


def find(form: Form, grads: Grads, wrt: Sequence[str] | None) -> None:
    """Set the variables of the form and their gradients. It runs once to create parameters, then forward and backward,
    then forward with each array of the object moved alone.

    Raises: ValueError for an ambiguous gradient; GradientError for a template, or a backward that changes a parameter;
    errors of forward, and those of an object's backward."""
    names = [name for name, _ in form.inputs()]
    if unknown := set(wrt or ()).difference(names):
        raise ValueError(f"wrt has {', '.join(sorted(unknown))}, wanted inputs: {', '.join(names)}")
    floats = [name for name, value in form.values.items() if is_float_array(value)]
    form.gradients, form.is_read = dict.fromkeys(floats if wrt is None else wrt, ()), False
    seen = _seen(form)
    by_place = _by_place(form, seen, wrt) if seen else None
    if seen is None or by_place is None:
        return  # the check reports the error of backward, or how many gradients it wants
    taken = {id(seen.after.get(path)) for paths in by_place.values() for path in paths}
    seen = seen._replace(written={path: value for path, value in seen.written.items() if id(value) not in taken})
    left, used = _moved_alone(form, seen.y)
    steps = {path: (path,) for path in used if path in seen.written}
    if steps and not form.takes_step:
        raise GradientError(f"backward changes the value of {next(iter(steps))}: only an optimizer may")
    by_name = {name: value for name, value in _variables(form, wrt).items() if seen.is_named or name not in form.names}
    variables = {path: value for path, value in (by_name | left).items() if path not in (*by_place, *seen.written)}
    pairs, constants = _by_name_or_shape(variables, seen, used, grads, floats if len(floats) == 1 else [])
    parameters = steps | {path: paths for path, paths in pairs.items() if path in left}
    form.gradients, form.is_read = by_place | pairs | steps, True
    form.note = _note(parameters, [name for name in floats if name not in form.gradients] + constants)
    is_boxed = [name in form.gradients and not is_float_array(value) for name, value in form.named()]
    form.take([np.array(each, float) if boxed else each for each, boxed in zip(form.arguments, is_boxed, strict=True)])
    form.values |= {path: left[path] for path in parameters}
    form.hold(form.thing, {path for paths in form.gradients.values() for path in paths})


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


def _is_variable(form: Form, name: str, value: Any, wrt: Sequence[str] | None) -> bool:
    """True for an array of floats, or another number outside of lists and dicts: a function's float, or one in wrt."""
    if is_float_array(value) or name not in form.names:
        return is_float_array(value)
    return is_number(value) if name in (wrt or ()) else form.thing is None and isinstance(value, float | np.floating)


def _variables(form: Form, wrt: Sequence[str] | None) -> Values:
    """Return the inputs that may have a gradient, each array once."""
    once_each = (pair for pair in form.inputs() if pair[0] in form.values or not isinstance(pair[1], np.ndarray))
    return {name: each for name, each in once_each if _is_variable(form, name, each, wrt) and name in (wrt or [name])}


def _by_place(form: Form, seen: Seen, wrt: Sequence[str] | None) -> Pairs | None:
    """Return the inputs whose gradients are parts of backward's result, by their places; None if no reading fits."""
    if seen.is_named:
        return {}
    parts = as_list(seen.returned)
    entries = next((entries for entries in _readings(form, wrt) if _fits(form, entries, parts, wrt)), None)
    if entries is None and form.thing is not None:  # with those of parameters after them
        entries = [pair for pair in form.values.items() if is_float_array(pair[1]) and pair[0] in (wrt or form.values)]
    elif entries is None and wrt is None and is_number(seen.y) and np.ndim(plain(seen.y)) == 0:  # a loss
        entries = _of_these_shapes(form, parts)
    if entries is None:
        return None
    first, found = {id(value): name for name, value in form.values.items()}, Pairs()
    for place, ((name, value), part) in enumerate(zip(entries, parts, strict=False)):
        if part is not None and _is_variable(form, name, value, wrt) and name in (wrt or [name]):
            name = first.get(id(value), name)
            path = "returned" if part is seen.returned else f"returned[{place}]"
            found[name] = (*found.get(name, ()), path)
    return found


def _readings(form: Form, wrt: Sequence[str] | None) -> Iterator[list[tuple[str, Any]]]:
    """Yield the inputs with a part in backward's result, in each reading: those in wrt; all; the arrays; the arrays of
    floats; with floats; and the same with each array in a list or dict; and with each array once."""
    inputs = form.inputs()
    yield [pair for name in wrt or () for pair in inputs if pair[0] == name]
    yield form.named()
    for entries in (form.named(), inputs, list(form.values.items())):
        yield [pair for pair in entries if isinstance(pair[1], np.ndarray)]
        yield [pair for pair in entries if is_float_array(pair[1])]
        yield [pair for pair in entries if _is_variable(form, *pair, wrt)]


def _fits(form: Form, entries: list[tuple[str, Any]], parts: list[Any], wrt: Sequence[str] | None) -> bool:
    """True if there is a part for each of these inputs: None for a constant, and a list or dict for another."""
    return len(entries) == len(parts) and all(
        part is None or _is_variable(form, name, value, wrt) or (_is_container(value) and _is_container(part))
        for (name, value), part in zip(entries, parts, strict=True)
    )


def _is_container(value: Any) -> bool:
    return isinstance(value, list | dict)


def _of_these_shapes(form: Form, parts: list[Any]) -> list[tuple[str, Any]]:
    """Return the first inputs, in order, with the shapes of these gradients."""
    found = list[tuple[str, Any]]()
    rest = iter(form.inputs())
    for gradient in map(np.shape, parts):
        pair = next((pair for pair in rest if _is_variable(form, *pair, None) and np.shape(pair[1]) == gradient), None)
        if pair is None:
            raise ValueError(
                f"backward returns {counted(len(parts), 'gradient')}, one of shape {gradient}, which no remaining "
                f"input has; name their inputs, as in wrt=('x',)"
            )
        found.append(pair)
    return found


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
    variables: Values, seen: Seen, used: list[str], grads: Grads, only: list[str]
) -> tuple[Pairs, list[str]]:
    """Return the variables that have or need a gradient, each array once, with the paths of its gradients; and the
    other arrays that y depends on. only: the name of an only input."""
    found, unnamed = dict[str, list[str]](), Values()
    for path, value in variables.items():
        words = [name for name in grads if is_called(path, name)]
        names = (path, *_INPUTS) if path in only else (path,)
        named = _once([each for each in seen.written if any(is_named_for(each, name) for name in names)], seen.after)
        if words:
            found |= _said(path, words[0], grads[words[0]], [*seen.written, *seen.after])
        elif len(named) == 1:
            found[path] = named
        elif path in used or named:
            unnamed[path] = value
    free = {path: value for path, value in seen.written.items() if not any(path in paths for paths in found.values())}
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
        elif owner_and_key(path)[0] in owners or any(is_named_for(each, path) for each in seen.after if each != path):
            found[path] = []
        else:
            constants.append(path)
    by_array = dict[int, tuple[str, list[str]]]()
    for path in [path for path in variables if path in found]:
        by_array.setdefault(id(variables[path]), (path, []))[1].extend(found[path])
    return {path: tuple(_once(_final(paths), seen.after)) for path, paths in by_array.values()}, constants


def _final(paths: list[str]) -> list[str]:
    """Return those of a parameter's gradients that backward returns, which include the others; or all."""
    return [path for path in paths if path.startswith("returned")] or paths


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
