"""samples_of: a layer with its inputs and right gradients, and variations of it, so no edit is right only for these
numbers or sizes."""

import contextlib
import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import named_parameters
from npbert.gradcheck.contract import numbers_of
from npbert.gradcheck.estimates import right_and_accuracy
from npbert.gradcheck.exact.run import named
from npbert.gradcheck.explain.finding import d
from npbert.gradcheck.explain.trial import Sample
from npbert.gradcheck.explain.variations import in_manner, resized
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import magnitude

_OTHERS = ((1, 0), (0, 1), (2, 3), (0, 4))
"""(more rows, number of the manner). Never equal numbers: the slope at a kink is a convention."""
_WITH_REPEATED = 4
_WITH_IGNORED = (0, 5)
_LARGE, _FEW = 200, 2
"""A layer of more numbers gets only this many of them: its runs take longer, and it is right by chance less often."""
_NOTHING = 1e-3
"""Of the scale of a gradient: below it, a gradient that should be 0 is."""
_IGNORED = -100
"""The label of a row that does not count, among labels."""


def samples_of(function: ScalarFunction) -> list[Sample]:
    """Return the layer unchanged and, as far as possible, with other numbers, sizes and manners; none if it cannot be
    copied."""
    given = [*function.inputs.values()]
    try:
        first = _varied(function, given, np.copy, 0)
    except Exception:  # the layer's own
        return []
    first.dy = function.dy
    made, must_run = [first], _runs(first)
    others = list(_OTHERS[: _FEW if function.size > _LARGE else None])
    if any(map(_is_of_labels, given)):
        others.append(_WITH_IGNORED)
    for more, number in others:
        for inputs in resized(given, more):
            with contextlib.suppress(Exception):  # the layer's own: it refuses this size, or these numbers
                another = _redrawn(function, inputs, number)
                if _runs(another) or not must_run:
                    made.append(another)
                    break
    return [_sample_of(each, are_promised=each is first) for each in made]


def _runs(function: ScalarFunction) -> bool:
    """False if backward raises: it may have arrays of a fixed size."""
    with contextlib.suppress(Exception):  # the author's own
        return bool(function.gradients())
    return False


def _sample_of(function: ScalarFunction, *, are_promised: bool) -> Sample:
    """Return the sample of a layer: y has to stay, and gradients such as dx have to be right."""
    (right, relative), scales = right_and_accuracy(function), function.scales()
    largest = {name: max(_NOTHING * scales[name], magnitude(each)) for name, each in right.items()}
    y = named("y", function.outputs())
    accuracy = dict.fromkeys(y, 0.0) | {d(name): relative * each for name, each in largest.items()}
    right = y | {d(name): each for name, each in right.items()}
    return Sample(partial(numbers_of, function, d, are_promised=are_promised), right, accuracy)


def _is_of_labels(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "i"


def _varied(function: ScalarFunction, inputs: list[Any], change: Callable[[Array], Array], seed: int) -> ScalarFunction:
    """Return a copy of the layer with other values, these inputs and another dy, by seed."""
    layer = copy.deepcopy(function.layer)
    for _, parameter in named_parameters(layer):
        parameter.value = change(parameter.value)
    return ScalarFunction(layer, inputs, function.rng, seed).checked()


def _redrawn(function: ScalarFunction, inputs: list[Any], number: int) -> ScalarFunction:
    """Return other numbers of the same kind, in the manner of this number: positive if all are, 0 and 1 for a mask.
    Whole numbers repeat, except in ascending order, which may be required."""
    rng = np.random.default_rng(number)

    def change(array: Array, manner: int = 0, *, is_moved: bool = True) -> Array:
        if _is_of_labels(array):
            return _other_labels(array, number, rng)
        if np.isin(array, (0, 1)).all() and array.any() and not is_moved:
            return np.roll(array, 1, axis=0)
        if array.dtype.kind != "f":
            return array
        if (array > 0).all():
            return np.asarray(array * rng.uniform(0.6, 1.4, array.shape))
        drawn = np.asarray(rng.standard_normal(array.shape))
        return in_manner(drawn, manner) * max(magnitude(array) / 2, 0.1)

    given = [
        change(value, number, is_moved=name in function.moved_inputs) if isinstance(value, np.ndarray) else value
        for name, value in zip(function.inputs, inputs, strict=True)
    ]
    return _varied(function, given, change, number + 1)


def _other_labels(array: Array, number: int, rng: np.random.Generator) -> Array:
    """Return labels of which some repeat, or of which the first is ignored."""
    if number == _WITH_IGNORED[1]:
        return np.where(np.arange(array.size).reshape(array.shape), array, _IGNORED)
    is_drawn = number == _WITH_REPEATED and (np.diff(array, axis=0) < 0).any()
    return rng.choice(array.ravel(), array.shape) if is_drawn else array
