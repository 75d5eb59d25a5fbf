"""places_of: which parts of backward's result are the gradients of which inputs, by their order. place_of_loss: which
part of forward's result is the loss.

Authors return a gradient for each input (None for a constant), or for each array of floats; with those of parameters
after them; or of a loss for some inputs alone. Lists and tuples count one by one, on both sides.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.gradcheck.forms import Form, is_number, plain
from npbert.gradcheck.inputs import is_float_array
from npbert.gradcheck.paths import Values, is_in_dict, listed, values_at
from npbert.io import counted

_LITTLE = 1e-6


def places_of(form: Form, y: Any, returned: Any, wrt: Sequence[str]) -> dict[str, str] | None:
    """Return the input of each part of backward's result that has one by its place; None if no reading fits. What is in
    dicts has names, and no place.

    In the first reading that fits there is a part for each input in wrt; for each input; for each array of floats and
    number; for each array of floats; or, for an object, for each array once, and for parameters after them. A
    function's None do not count, except in the first two readings."""
    parts = {path: part for path, part in listed(returned, "returned").items() if not is_in_dict(path)}
    every, given = [*parts], [path for path, part in parts.items() if part is not None]
    those = given if form.thing is None else every
    inputs = {name: value for name, value in form.inputs().items() if not form.is_in_dict(name)}
    able = [name for name, value in inputs.items() if is_float_array(value)]
    arrays = [name for name in able if name not in form.numbers]
    for names, paths in ([*wrt], every), ([*inputs], every), (able, those), (arrays, those):
        pairs = zip(paths, names, strict=False)
        if len(names) == len(paths) and all(name in able for path, name in pairs if path in given):
            break
    else:
        if form.thing is not None:
            names = [name for name in able if name in form.values and name in (wrt or able)]
        elif wrt or not is_number(y) or np.ndim(plain(y)):
            return None
        else:
            names = _of_these_shapes(parts, {name: inputs[name] for name in able})
        paths = every
    first = {id(value): name for name, value in form.values.items()}
    pairs = zip(paths, names, strict=False)
    return {path: first[id(inputs[name])] for path, name in pairs if path in given and name in (wrt or able)}


def _of_these_shapes(parts: Values, inputs: Values) -> list[str]:
    """Return the first inputs, in order, with the shapes of the gradients of a loss."""
    names, rest = list[str](), iter(inputs.items())
    for shape in map(np.shape, parts.values()):
        name = next((name for name, value in rest if np.shape(value) == shape), None)
        if name is None:
            raise ValueError(
                f"backward returns {counted(len(parts), 'gradient')}, one of shape {shape}, which no remaining input "
                "has; name their inputs, as in wrt=('x',)"
            )
        names.append(name)
    return names


def place_of_loss(form: Form, here: Sequence[Any]) -> int:
    """Return the place of a loss among forward's results: the first number that moves a little with all floats, as an
    accuracy does not."""

    def near(value: Any) -> Any:
        return value * (1 + _LITTLE) if is_float_array(value) else value

    others = {id(each): near(each) for each in values_at(form.thing).values()}
    there = form.ran([*map(near, form.values.values())], others).y
    both = enumerate(zip(here, there, strict=True))
    return next((place for place, (one, other) in both if is_number(one) and not np.ndim(one) and one != other), 0)
