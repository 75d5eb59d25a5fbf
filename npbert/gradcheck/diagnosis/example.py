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
from npbert.gradcheck.diagnosis.finding import Finding, d
from npbert.gradcheck.diagnosis.surroundings import numbers_of
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import is_float_array, is_whole
from npbert.gradcheck.report import FINITE_DIFFERENCES, Gradients

_H = 1e-3
_BELIEVED = 1e-6  # the relative error up to which a small case counts as right
_MOST_SHOWN = 24
_MOST_ARRAYS = 5


def counterexample(function: ScalarFunction, names: list[str]) -> Finding | None:
    """The worst number of the smallest case that is wrong; None if no number is wrong to six digits."""
    for small in _smaller(function):
        try:
            wrong, right = small.gradients(tried=False), by_number(small, FINITE_DIFFERENCES)
        except Exception:  # the layer does not allow this size
            continue
        found = _worst(wrong, right, names)
        if found:
            return _told(small, *found, wrong)
    return None


def _worst(wrong: Gradients, right: Gradients, names: list[str]) -> tuple[str, tuple[int, ...]] | None:
    errors = {}
    largest = max((float(np.abs(array).max(initial=0)) for array in right.values()), default=0.0)
    for name in names:
        error = np.nan_to_num(np.abs(wrong[name] - right[name]), nan=np.inf)
        scale = max(np.abs(right[name]).max(initial=0), 1e-2 * largest, 1e-12)
        if error.size and error.max() > _BELIEVED * scale:
            errors[name] = float(error.max()) / scale, np.unravel_index(int(error.argmax()), error.shape)
    if not errors:
        return None
    name = max(errors, key=lambda name: errors[name][0])
    return name, tuple(map(int, errors[name][1]))


def _told(function: ScalarFunction, name: str, index: tuple[int, ...], wrong: Gradients) -> Finding:
    start, up, down = _both_sides(function, name, index)
    place = f"{name}[{', '.join(map(str, index))}]" if index else name
    case = _in_numbers(function)
    beside = _beside(function, name, index)
    product = "dy · y" if sum(map(np.size, function.dy)) == 1 else "Σ dy · y"
    lines = [
        f"{d(name)} is wrong, for example {f'with {case}' if case else f'at {place} = {start:.6g}{beside}'}:",
        f"    {place} = {start:.6g} + {_H:g}:",
        f"        S = {product} = {up:.9f}",
        f"    {place} = {start:.6g} − {_H:g}:",
        f"        S = {down:.9f}",
        f"    So dS/d{place}, their difference / {2 * _H:g}, is {(up - down) / (2 * _H):.6f};",
        f"    backward says {float(wrong[name][index]):.6f}.",
    ]
    return Finding("example", name, "\n".join(lines).replace("-", "−"))


def _beside(function: ScalarFunction, name: str, index: tuple[int, ...]) -> str:
    """The label, or id, that belongs to this row of an input; or ""."""
    array = dict(function.named_inputs()).get(name)
    if not index or not isinstance(array, np.ndarray):
        return ""
    of_rows = [
        (of, value) for of, value in function.named_arrays() if is_whole(value) and value.shape == array.shape[:1]
    ]
    return "".join(f", {of}[{index[0]}] = {value[index[0]]}" for of, value in of_rows)


def _both_sides(function: ScalarFunction, name: str, index: tuple[int, ...]) -> tuple[float, float, float]:
    """The number at name[index], and S where it is a little larger and a little smaller."""
    sums = []
    with function.movable(FINITE_DIFFERENCES) as variables:
        array = variables[name]
        start = float(array[index])
        for step in (_H, -_H):
            array[index] = start + step
            sums.append(sum(float((dy * y).sum()) for dy, y in zip(function.dy, function.outputs(), strict=True)))
    return start, sums[0], sums[1]


def _in_numbers(function: ScalarFunction) -> str:
    """x = [[0.2, −0.5], …], dy = …: all that the layer has and is given, if it is short."""
    shown = {name: parameter.value for name, parameter in function.parameters.items()}
    shown |= {name: value for name, value in function.named_inputs() if isinstance(value, np.ndarray)}
    shown |= {"dy": function.dy[0]} if len(function.dy) == 1 else {}
    is_short = sum(map(np.size, shown.values())) <= _MOST_SHOWN and len(shown) <= _MOST_ARRAYS
    numbers = [f"{name} = {value:g}" for name, value in numbers_of(function.layer).items()]
    return ", ".join([*numbers, *(f"{name} = {_array(value)}" for name, value in shown.items())]) if is_short else ""


def _array(array: Any) -> str:
    return np.array2string(
        np.asarray(array), precision=4, separator=", ", suppress_small=True, max_line_width=10**6
    ).replace("\n", "")


def _smaller(function: ScalarFunction) -> Iterator[ScalarFunction]:
    """Cases with few rows and columns and round numbers, the smallest first, and at last the case itself."""
    inputs = function.inputs
    rows = max((len(value) for value in inputs if is_float_array(value) and value.ndim > 1), default=0)
    sizes = {
        size
        for value in [*inputs, *(parameter.value for parameter in function.parameters.values())]
        if is_float_array(value)
        for size in value.shape[1 if value.ndim > 1 else 0 :]
    }
    sizes |= {size for parameter in function.parameters.values() for size in parameter.value.shape}
    for columns, count in itertools.product((2, 3, None), (2, 1, 3, None)):
        try:
            yield _cut(function, rows, count, sizes, columns)
        except Exception:  # the layer does not allow this size
            continue
    yield function


def _cut(
    function: ScalarFunction, rows: int, count: int | None, sizes: set[int], columns: int | None
) -> ScalarFunction:
    layer = copy.deepcopy(function.layer)
    for _, parameter in named_parameters(layer):
        parameter.zero_grad()
        value = parameter.value
        if columns is not None:
            value = value[tuple(slice(columns) if size in sizes else slice(None) for size in value.shape)]
        parameter.value = _round(value)
    cut = []
    for value in function.inputs:
        part = value
        if isinstance(part, np.ndarray) and part.ndim:
            if count is not None and len(part) == rows:
                part = part[:count]
            if columns is not None and part.ndim > 1 and is_float_array(part):
                part = part[(..., *(slice(columns) if size in sizes else slice(None) for size in part.shape[1:]))]
        cut.append(_round(part) if is_float_array(part) else part)
    small = ScalarFunction(layer, tuple(cut), function.rng, 0)
    small.dy = tuple(_round(dy) for dy in small.dy)
    return small


def _round(array: Array) -> Array:
    """Numbers of one digit after the point, none of them 0."""
    rounded = np.round(array, 1)
    return np.where(rounded == 0, 0.1, rounded)
