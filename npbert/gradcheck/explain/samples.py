"""samples_of: a layer with what it is given and what its gradients should be; and others like it, so that no edit is
right for these numbers, or these sizes, alone."""

import contextlib
import copy
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import named_parameters
from npbert.gradcheck.contract import Call
from npbert.gradcheck.explain.manners import in_manner, resized
from npbert.gradcheck.forms import Form
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.report import Gradients

_OTHERS = ((1, 0), (0, 1), (0, 2), (2, 3), (0, 4))
"""(so many rows more, number of the manner)"""
_LARGE, _FEW = 200, 2
"""Of a layer of more numbers, so many of these."""
_DIRECTIONS, _TINY, _WEIGHTS = 2, 1e-30, (3 / 4, -3 / 20, 1 / 60)
_EXACT, _ESTIMATED, _ROUGHLY, _SMALL = 1e-10, 1e-6, 1e-5, 1e-3
_NEAR, _BENT = 1e-6, 1e-4


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
    runs = bool(made) and _runs(made[0])
    marks = [(0, number, mark) for number, mark in enumerate(_marks_of(function.layer), len(_OTHERS))]
    others = [(*each, None) for each in _OTHERS][: _FEW if function.size > _LARGE else None]
    for more, number, mark in [*others, *marks] if made else ():
        for inputs in resized(function.inputs, more):
            with contextlib.suppress(Exception):  # the layer's own: it does not allow this size, or these numbers
                given = [_marked(value, mark) for value in inputs]
                another = _redrawn(function, given, number)
                if _runs(another) or not runs:
                    made.append(another)
                    break
    return [_sample_of(each) for each in made if made[0].dy is function.dy]


def _runs(function: ScalarFunction) -> bool:
    """False if backward raises: it may hold arrays of one size."""
    with contextlib.suppress(Exception), function.unchanged():  # the author's own
        return bool(Call(function).backward())
    return False


def _sample_of(function: ScalarFunction) -> Sample:
    rng, sizes = np.random.default_rng(0), function.scales()
    directions = {name: rng.standard_normal((_DIRECTIONS, *each.shape)) for name, each in function.variables.items()}
    slopes, accuracy = _shown(function, directions, sizes)
    rounding = {name: accuracy * _SMALL * size for name, size in sizes.items()}
    return Sample(function, directions, slopes, accuracy, rounding, function.outputs())


def _shown(function: ScalarFunction, directions: Gradients, sizes: dict[str, float]) -> tuple[Gradients, float]:
    """The slopes along the directions, and to which relative error they are right."""
    with contextlib.suppress(TypeError):
        return _slopes(function, directions, _by_complex_step, sizes), _EXACT
    with contextlib.suppress(TypeError):
        return _slopes(function, directions, _by_difference, sizes), _ESTIMATED
    right, accuracy = function.right()
    terms = {name: (each * right[name]).reshape(_DIRECTIONS, -1) for name, each in directions.items()}
    return {name: each.sum(axis=1) for name, each in terms.items()}, accuracy


Slope = Callable[[Callable[[complex], complex]], float]


def _by_complex_step(s: Callable[[complex], complex]) -> float:
    return s(1j * _TINY).imag / _TINY


def _by_difference(s: Callable[[complex], complex], step: float = 1e-3) -> float:
    """By six points, right to the sixth power of the step."""
    return sum(weight * (s(k * step) - s(-k * step)).real for k, weight in enumerate(_WEIGHTS, 1)) / step


def _slopes(function: ScalarFunction, directions: Gradients, slope: Slope, sizes: dict[str, float]) -> Gradients:
    """The slopes of S along directions, each of one array. Raises: TypeError where a difference contradicts them: where
    forward takes a variance or an absolute value of complex numbers, say, or casts to float32."""
    slopes: Gradients = {}
    spreads = {name: function.spread(name) for name in directions}
    with function.movable(np.complex128 if slope is _by_complex_step else np.float64) as variables:
        still = function.outputs()
        for name, each in directions.items():
            spread = spreads[name]

            def s(t: complex, name: str = name, direction: Array = each[0]) -> complex:
                y = zip(function.dy, function.at(variables, {name: direction}, t), still, strict=True)
                return complex(sum((dy * (moved - there)).sum() for dy, moved, there in y))

            slopes[name] = np.array([slope(partial(s, direction=spread * step)) / spread for step in each])
            shown = _by_difference(partial(s, direction=spread * each[0]), 5e-4) / spread
            if abs(shown - slopes[name][0]) > _ROUGHLY * (abs(shown) + _SMALL * sizes[name]):
                raise TypeError("differences contradict it")
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
    """Raise ValueError at a kink, where both sides have slopes of their own: which is taken is a matter of taste."""
    rng = np.random.default_rng(0)
    with function.movable(np.float64) as variables:
        here = function.outputs()
        for name, value in variables.items():
            step = {name: _NEAR * function.spread(name) * rng.standard_normal(value.shape)}
            there, back = (function.at(variables, step, t) for t in (1, -1))
            for one, y, other in zip(there, here, back, strict=True):
                if np.abs(one - 2 * y + other).sum() > _BENT * np.abs(one - other).sum():
                    raise ValueError("there is a kink")
