"""The samples on which an edited layer is judged: the numbers that are given, and others of other sizes."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import named_parameters
from npbert.gradcheck.derivatives import by_number, exact_gradients
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import is_float_array
from npbert.gradcheck.report import FINITE_DIFFERENCES, Gradients

_EXACT, _ESTIMATED = 1e-9, 1e-6  # the relative errors up to which a gradient is right, by how its own was found


@dataclass
class Sample:
    """A copy of the layer, what it is given, and what its gradients should be."""

    layer: Any
    function: ScalarFunction
    right: Gradients
    y: tuple[Array, ...]
    accuracy: float

    @classmethod
    def of(cls, function: ScalarFunction) -> Sample:
        """With right gradients from exact arithmetic, or else from finite differences."""
        right = exact_gradients(function)
        if right:
            return cls(function.layer, function, right, function.outputs(), _EXACT)
        right = by_number(function, FINITE_DIFFERENCES)
        return cls(function.layer, function, right, function.outputs(), _ESTIMATED)


def samples_of(function: ScalarFunction) -> Iterator[Sample]:
    """The layer as it is given, and with other numbers and, where it allows that, other sizes."""
    try:
        made = [_copied(function, function.inputs, None)]
    except Exception:  # the layer's own, which cannot be copied
        return
    for inputs in _resized(function):
        with contextlib.suppress(Exception):  # the layer's own: it does not allow this size
            made.append(_copied(function, inputs, np.random.default_rng(len(made))))
        if len(made) > 1:
            break
    with contextlib.suppress(Exception):  # as above
        made.append(_copied(function, function.inputs, np.random.default_rng(7), is_positive=True))
    yield from map(Sample.of, made)


def _copied(
    function: ScalarFunction, inputs: list[Any], rng: np.random.Generator | None, *, is_positive: bool = False
) -> ScalarFunction:
    layer = copy.deepcopy(function.layer)
    if rng is not None:
        for _, parameter in named_parameters(layer):
            parameter.value = _redrawn(parameter.value, rng)
        inputs = [_redrawn(value, rng) if is_float_array(value) else value for value in inputs]
    for _, parameter in named_parameters(layer):
        parameter.zero_grad()
    made = ScalarFunction(layer, tuple(inputs), function.rng, 0 if rng is None else 1)
    if rng is None:
        made.dy = function.dy
    elif is_positive:  # so that no edit lives on the sign of what comes in
        made.dy = tuple(map(np.abs, made.dy))
    if not all(np.isfinite(y).all() for y in made.outputs()):
        raise ValueError("y is not finite")
    return made


def _redrawn(array: Array, rng: np.random.Generator) -> Array:
    """Others of the same kind: positive where all are, 0 and 1 where there is nothing else."""
    if np.isin(array, (0, 1)).all() and array.any():
        return np.roll(array, 1)
    if (array > 0).all():
        return np.asarray(array * rng.uniform(0.6, 1.4, array.shape))
    return np.asarray(rng.standard_normal(array.shape) * max(float(np.abs(array).max(initial=0)) / 2, 0.1))


def _resized(function: ScalarFunction) -> Iterator[list[Any]]:
    """The inputs larger by one along every axis, or those of the rows, or the first; and at last as they are."""
    arrays = [value for value in function.inputs if isinstance(value, np.ndarray) and value.ndim]
    rows = max((len(value) for value in arrays if value.dtype.kind == "f"), default=0)
    inner = next((value.shape[1] for value in arrays if value.ndim > 2), 0)
    for grown in ({size for value in arrays for size in value.shape}, {rows, inner} - {0}, {rows}):
        yield [_grown(value, lambda axis, size, grown=grown: size in grown) for value in function.inputs]  # type: ignore[misc]
    yield [_grown(value, lambda axis, size: axis == 0 and size == rows) for value in function.inputs]
    yield list(function.inputs)


def _grown(value: Any, grows: Callable[[int, int], bool]) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    for axis, size in enumerate(value.shape):
        if grows(axis, size):
            value = np.take(value, np.arange(size + 1) % size, axis=axis)
    return value
