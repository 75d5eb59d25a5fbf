"""The smallest counterexample: a few short numbers that still show the error, with the difference quotient."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import named_parameters
from npbert.gradcheck.derivatives import by_number
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.names import d
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import is_float_array
from npbert.gradcheck.report import FINITE_DIFFERENCES, Gradients

_H = 1e-3
_BELIEVED = 1e-6
_MOST_SHOWN = 24


def counterexample(function: ScalarFunction, names: list[str], dy: str = "dy") -> Finding | None:
    """The worst number of the smallest case that is wrong; None if no number is wrong to six digits."""
    for small in _smaller(function):
        try:
            wrong, right = small.gradients(tried=False), by_number(small, FINITE_DIFFERENCES)
        except Exception:  # the layer's own: it does not allow this size
            continue
        found = _worst(wrong, right, names)
        if found:
            return _told(small, *found, float(wrong[found[0]][found[1]]), dy)
    return None


def _worst(wrong: Gradients, right: Gradients, names: list[str]) -> tuple[str, tuple[int, ...]] | None:
    largest = max((float(np.abs(array).max(initial=0)) for array in right.values()), default=0.0)
    worst, found = _BELIEVED, None
    for name in names:
        error = np.nan_to_num(np.abs(wrong[name] - right[name]), nan=np.inf)
        relative = float(error.max(initial=0)) / max(np.abs(right[name]).max(initial=0), 1e-2 * largest, 1e-12)
        if relative > worst:
            worst, found = relative, (name, tuple(map(int, np.unravel_index(int(error.argmax()), error.shape))))
    return found


def _told(function: ScalarFunction, name: str, index: tuple[int, ...], said: float, dy: str) -> Finding:
    place = f"{name}[{', '.join(map(str, index))}]" if index else name
    start, up, down = _both_sides(function, name, index)
    product = f"{dy} · y" if sum(map(np.size, function.dy)) == 1 else f"Σ {dy} · y"
    lines = [
        f"{d(name)} is wrong, for example with {_in_numbers(function, dy) or f'{place} = {start:.6g}'}:",
        f"    {place} = {start:.6g} + {_H:g}:  S = {product} = {up:.9f}",
        f"    {place} = {start:.6g} − {_H:g}:  S = {down:.9f}",
        f"    So dS/d{place}, their difference / {2 * _H:g}, is {(up - down) / (2 * _H):.6f};",
        f"    backward says {said:.6f}.",
    ]
    return Finding("example", d(name), "", "", "", "\n".join(lines).replace("-", "−"))


def _both_sides(function: ScalarFunction, name: str, index: tuple[int, ...]) -> tuple[float, float, float]:
    """The number at name[index], and S where it is a little larger and a little smaller."""
    with function.movable(FINITE_DIFFERENCES) as variables:
        array, sums = variables[name], []
        start = float(array[index])
        for step in (_H, -_H):
            array[index] = start + step
            sums.append(sum(float((dy * y).sum()) for dy, y in zip(function.dy, function.outputs(), strict=True)))
    return start, sums[0], sums[1]


def _in_numbers(function: ScalarFunction, dy: str) -> str:
    """x = [[0.2, −0.5], …], dy = …: all that the layer has and is given, if it is short."""
    shown = {name: parameter.value for name, parameter in function.parameters.items()}
    shown |= {name: value for name, value in function.named_inputs() if isinstance(value, np.ndarray)}
    shown |= {dy: function.dy[0]} if len(function.dy) == 1 else {}
    is_short = sum(map(np.size, shown.values())) <= _MOST_SHOWN and len(shown) <= 5
    return ", ".join(f"{name} = {_array(value)}" for name, value in shown.items()) if is_short else ""


def _array(array: Any) -> str:
    text = np.array2string(np.asarray(array), precision=4, separator=", ", suppress_small=True, max_line_width=10**6)
    return text.replace("\n", "")


def _smaller(function: ScalarFunction) -> Iterator[ScalarFunction]:
    """Cases with few rows and columns and round numbers, the smallest first, and at last the case itself."""
    values = [value for value in function.inputs if is_float_array(value)]
    rows = max((len(value) for value in values if value.ndim > 1), default=0)
    sizes = {size for value in values for size in value.shape[1 if value.ndim > 1 else 0 :]}
    sizes |= {size for parameter in function.parameters.values() for size in parameter.value.shape}
    for columns, count in itertools.product((2, 3, None), (2, 1, 3, None)):
        try:
            yield _cut(function, rows, count, sizes, columns)
        except Exception:  # the layer's own: it does not allow this size
            continue
    yield function


def _cut(
    function: ScalarFunction, rows: int, count: int | None, sizes: set[int], columns: int | None
) -> ScalarFunction:
    def narrow(array: Array, first: int) -> Array:
        cuts = [slice(columns if size in sizes else None) for size in array.shape[first:]]
        return array[(slice(None),) * first + tuple(cuts)]

    layer, cut = copy.deepcopy(function.layer), []
    for _, parameter in named_parameters(layer):
        parameter.zero_grad()
        parameter.value = _round(narrow(parameter.value, 0))
    for value in function.inputs:
        if isinstance(value, np.ndarray) and value.ndim:
            value = value[:count] if len(value) == rows else value
            value = _round(narrow(value, 1 if value.ndim > 1 else value.ndim)) if is_float_array(value) else value
        cut.append(value)
    small = ScalarFunction(layer, tuple(cut), function.rng, 0)
    small.dy = tuple(map(_round, small.dy))
    return small


def _round(array: Array) -> Array:
    """Numbers of one digit after the point, none of them 0."""
    rounded = np.round(array, 1)
    return np.where(rounded == 0, 0.1, rounded)
