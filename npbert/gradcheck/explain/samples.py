"""The samples on which an edited layer is judged: the numbers that are given, and others of other sizes."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import named_parameters
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import is_float_array
from npbert.gradcheck.report import Gradients


class Sample(NamedTuple):
    """A copy of the layer with what it is given, what its gradients should be, and to which relative error; and y."""

    function: ScalarFunction
    right: Gradients
    accuracy: float
    y: tuple[Array, ...]


def samples_of(function: ScalarFunction) -> list[Sample]:
    """The layer as it is given, and with other numbers and, where it allows that, other sizes; none if it cannot be
    copied."""
    made: list[ScalarFunction] = []
    with contextlib.suppress(Exception):  # the layer's own
        made.append(_varied(function, function.inputs, np.copy, 0))
        made[0].dy = function.dy
    for inputs in _resized(function) if made else ():
        with contextlib.suppress(Exception):  # the layer's own: it does not allow this size
            made.append(_redrawn(function, inputs, len(made)))
            break
    with contextlib.suppress(Exception):  # as above
        made.append(_redrawn(function, function.inputs, 7))
        made[-1].dy = tuple(map(np.abs, made[-1].dy))  # so that no edit lives on the sign of what comes in
    return [Sample(each, *each.right(), each.outputs()) for each in made if made[0].dy is function.dy]


def _varied(function: ScalarFunction, inputs: list[Any], change: Callable[[Array], Array], seed: int) -> ScalarFunction:
    """A copy of the layer with other values, other inputs and, by its seed, another dy."""
    layer = copy.deepcopy(function.layer)
    for _, parameter in named_parameters(layer):
        parameter.value = change(parameter.value)
        parameter.zero_grad()
    changed = (change(value) if is_float_array(value) else value for value in inputs)
    return ScalarFunction(layer, tuple(changed), function.rng, seed)


def _redrawn(function: ScalarFunction, inputs: list[Any], seed: int) -> ScalarFunction:
    """Other numbers of the same kind: positive where all are, 0 and 1 where there is nothing else."""
    rng = np.random.default_rng(seed)

    def change(array: Array) -> Array:
        if np.isin(array, (0, 1)).all() and array.any():
            return np.roll(array, 1)
        if (array > 0).all():
            return np.asarray(array * rng.uniform(0.6, 1.4, array.shape))
        return np.asarray(rng.standard_normal(array.shape) * max(float(np.abs(array).max(initial=0)) / 2, 0.1))

    made = _varied(function, inputs, change, 1)
    if not all(np.isfinite(y).all() for y in made.outputs()):
        raise ValueError("y is not finite")
    return made


def _resized(function: ScalarFunction) -> Iterator[list[Any]]:
    """The inputs larger by one along every axis, or along those of the rows, or the first; and at last as they are."""
    arrays = [value for value in function.inputs if isinstance(value, np.ndarray) and value.ndim]
    rows = max((len(value) for value in arrays if value.dtype.kind == "f"), default=0)
    inner = next((value.shape[1] for value in arrays if value.ndim > 2), rows)
    every = {size for value in arrays for size in value.shape}
    for sizes, axes in ((every, None), ({rows, inner}, None), ({rows}, None), ({rows}, 1), (set(), 0)):
        yield [_grown(value, sizes, axes) if isinstance(value, np.ndarray) else value for value in function.inputs]


def _grown(value: Array, sizes: set[int], axes: int | None) -> Array:
    """Larger by one along those of the first `axes` that have one of these sizes."""
    for axis, size in enumerate(value.shape[:axes]):
        if size in sizes:
            value = np.take(value, np.arange(size + 1) % size, axis=axis)
    return value
