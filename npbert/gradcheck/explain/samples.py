"""samples_of: a layer with what it is given and what its gradients should be; and others like it, so that no edit is
right for these numbers, or these sizes, alone."""

import contextlib
import copy
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import named_parameters
from npbert.gradcheck.explain.manners import in_manner, resized
from npbert.gradcheck.forms import Form
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import is_float_array
from npbert.gradcheck.report import Gradients

_OTHERS = ((1, 0), (0, 1), (0, 2), (2, 3), (0, 4))
"""(so many rows more, number of the manner)"""
_LARGE, _FEW = 200, 2
"""Of a layer of more numbers, so many of these."""
_DIRECTIONS, _EXACT, _SMALL = 3, 1e-10, 1e-3
_TINY, _STEP, _ROUGHLY = 1e-30, 1e-6, 1e-4


class Sample(NamedTuple):
    """A copy of the layer with what it is given, and what forward shows of each gradient: its products with a few
    directions.

    directions: by name, (K, …). slopes: by name, (K,). accuracy: relative; rounding: of each name. y: forward's
    """

    function: ScalarFunction
    directions: Gradients
    slopes: Gradients
    accuracy: float
    rounding: dict[str, float]
    y: tuple[Array, ...]

    def judged(self, given: Gradients) -> tuple[set[str], dict[str, tuple[Array, Array]]]:
        """The names of the gradients that are wrong; and the slopes along the directions, as given and as they are."""
        wrong, slopes = set(), {}
        for name, directions in self.directions.items():
            terms = (directions * given[name]).reshape(len(directions), -1)
            slopes[name] = terms.sum(axis=1), self.slopes[name]
            off = np.abs(slopes[name][0] - slopes[name][1])
            if not (off <= self.accuracy * np.abs(terms).sum(axis=1) + self.rounding[name]).all():
                wrong.add(name)
        return wrong, slopes


def samples_of(function: ScalarFunction) -> list[Sample]:
    """The layer as it is given; and, as far as it allows that, with other numbers, other sizes, and in other manners.
    None if it cannot be copied."""
    made: list[ScalarFunction] = []
    with contextlib.suppress(Exception):  # the layer's own
        made.append(_varied(function, function.inputs, np.copy, 0))
        made[0].dy = function.dy
    marks = [(0, number, mark) for number, mark in enumerate(_marks_of(function.layer), len(_OTHERS))]
    others = [(*each, None) for each in _OTHERS][: _FEW if function.size > _LARGE else None]
    for more, number, mark in [*others, *marks] if made else ():
        for inputs in resized(function.inputs, more):
            with contextlib.suppress(Exception):  # the layer's own: it does not allow this size, or these numbers
                given = [_marked(value, mark) for value in inputs]
                made.append(_redrawn(function, given, number))
                break
    return [_sample_of(each) for each in made if made[0].dy is function.dy]


def _sample_of(function: ScalarFunction) -> Sample:
    rng, y = np.random.default_rng(0), function.outputs()
    size = float(sum(np.abs(dy * each).sum() for dy, each in zip(function.dy, y, strict=True)))
    directions = {name: rng.standard_normal((_DIRECTIONS, *each.shape)) for name, each in function.variables.items()}
    try:
        slopes, accuracy = _by_complex_step(function, directions), _EXACT
    except TypeError:  # complex numbers do not flow
        right, accuracy = function.right()
        slopes = {name: (each * right[name]).reshape(_DIRECTIONS, -1).sum(axis=1) for name, each in directions.items()}
    rounding = {name: accuracy * _SMALL * size / function.spread(name) for name in directions}
    return Sample(function, directions, slopes, accuracy, rounding, y)


def _by_complex_step(function: ScalarFunction, directions: Gradients) -> Gradients:
    """The slopes of S along directions, each of one array. Raises: TypeError where differences contradict them: where
    forward takes a variance or an absolute value of complex numbers, say."""

    def slope(variables: Gradients, step: Gradients, t: complex) -> complex:
        y = zip(function.dy, function.at(variables, step, t), function.outputs(), strict=True)
        return complex(sum((dy * (moved - still)).sum() for dy, moved, still in y)) / t

    slopes: Gradients = {}
    with function.movable(np.complex128) as variables:
        for name, each in directions.items():
            slopes[name] = np.array([slope(variables, {name: step}, 1j * _TINY).real for step in each])
            shown = (slope(variables, {name: each[0]}, _STEP) + slope(variables, {name: each[0]}, -_STEP)).real / 2
            if abs(shown - slopes[name][0]) > _ROUGHLY * max(abs(shown), np.abs(slopes[name]).max()):
                raise TypeError("complex numbers do not flow through forward")
    return slopes


def _marks_of(layer: Any) -> list[int]:
    """The whole numbers in forward that are no class and no axis, such as IGNORED: those below −1."""
    forward = layer.theirs["forward"] if isinstance(layer, Form) else getattr(type(layer), "forward", None)
    if not isinstance(forward, FunctionType):
        return []
    named = (forward.__globals__.get(name) for name in forward.__code__.co_names)
    return sorted({each for each in (*named, *forward.__code__.co_consts) if type(each) is int and each < -1})


def _marked(value: Any, mark: int | None) -> Any:
    """Whole numbers with the mark in the place of the first, where there is a mark."""
    if mark is None or not isinstance(value, np.ndarray) or value.dtype.kind != "i":
        return value
    return np.where(np.arange(value.size).reshape(value.shape), value, mark)


def _varied(function: ScalarFunction, inputs: list[Any], change: Callable[[Array], Array], seed: int) -> ScalarFunction:
    """A copy of the layer with other values, with these inputs and, by its seed, another dy."""
    layer = copy.deepcopy(function.layer)
    for _, parameter in named_parameters(layer):
        parameter.value = change(parameter.value)
        parameter.zero_grad()
    return ScalarFunction(layer, tuple(inputs), function.rng, seed)


def _redrawn(function: ScalarFunction, inputs: list[Any], manner: int) -> ScalarFunction:
    """Other numbers of the same kind, in one of the manners: positive where all are, 0 and 1 where there is nothing
    else. Whole numbers repeat, but for those in ascending order, which may have to be."""
    rng, is_even = np.random.default_rng(manner), manner == 2

    def change(array: Array, manner: int = 0) -> Array:
        if array.dtype.kind in "iu":
            is_drawn = is_even and (np.diff(array, axis=0) < 0).any()
            return rng.choice(array.ravel(), array.shape) if is_drawn else array
        if np.isin(array, (0, 1)).all() and array.any():
            return np.roll(array, 1)
        if array.dtype.kind != "f":
            return array
        if (array > 0).all():
            return np.asarray(array * rng.uniform(0.6, 1.4, array.shape))
        drawn = np.asarray(rng.standard_normal(array.shape))
        return in_manner(drawn, manner) * max(float(np.abs(array).max(initial=0)) / 2, 0.1)

    given = [change(value, manner) if isinstance(value, np.ndarray) else value for value in inputs]
    made = _varied(function, given, change, manner + 1)
    if not all(np.isfinite(y).all() for y in made.outputs()):
        raise ValueError("y is not finite")
    if is_even:
        _check_smooth(made)
    return made


def _check_smooth(function: ScalarFunction) -> None:
    """Raise ValueError where the derivative jumps: on which side of a kink it is taken there is a matter of taste."""
    here = _sample_of(function)
    for h in (1e-9, -1e-9):
        moved = [value + h if is_float_array(value) else value for value in function.inputs]
        near = _varied(function, moved, np.copy, 0)
        near.dy = function.dy
        there = _sample_of(near).slopes
        if not all(np.allclose(there[name], slopes, 1e-4, 1e-6) for name, slopes in here.slopes.items()):
            raise ValueError("there may be a kink")
