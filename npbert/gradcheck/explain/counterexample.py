"""The smallest counterexample: a few short numbers that still show the error, with the difference quotient."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.contract import Call
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.names import d
from npbert.gradcheck.explain.samples import varied
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import is_float_array
from npbert.gradcheck.report import FINITE_DIFFERENCES, Comparison, Report

_H = 1e-3
_BELIEVED = 1e-6
_MOST_SHOWN = 24


def counterexample(function: ScalarFunction, dy: str = "dy") -> Iterator[Finding]:
    """The worst number of the smallest case that is wrong; nothing if no number is wrong to six digits."""
    for small in _smaller(function):
        try:
            with small.unchanged():
                said = Call(small).backward()
            right = small.by_number(FINITE_DIFFERENCES)
        except Exception:  # the layer's own: it does not allow this size
            continue
        report = Report.compare(said, {FINITE_DIFFERENCES: right}, {FINITE_DIFFERENCES: _BELIEVED})
        if not report.ok:
            yield _told(small, report.worst[FINITE_DIFFERENCES], dy)
            return


def _told(function: ScalarFunction, worst: Comparison, dy: str) -> Finding:
    start = float(function.variables[worst.name][worst.index])
    up, down = function.both_sides(worst.name, worst.index, _H)
    product = f"{dy} · y" if sum(map(np.size, function.dy)) == 1 else f"Σ {dy} · y"
    lines = [
        f"{d(worst.name)} is wrong, for example with {_in_numbers(function, dy) or f'{worst.place} = {start:.6g}'}:",
        f"    {worst.place} = {start:.6g} + {_H:g}:  S = {product} = {up:.9f}",
        f"    {worst.place} = {start:.6g} − {_H:g}:  S = {down:.9f}",
        f"    So dS/d{worst.place}, their difference / {2 * _H:g}, is {(up - down) / (2 * _H):.6f};",
        f"    backward says {worst.analytic:.6f}.",
    ]
    return Finding("example", d(worst.name), "", "", "", "\n".join(lines).replace("-", "−"))


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

        def cut(array: Array, first: int = 0, columns: int | None = columns) -> Array:
            cuts = [slice(columns if size in sizes else None) for size in array.shape[first:]]
            return _round(array[(slice(None),) * first + tuple(cuts)])

        inputs = []
        for value in function.inputs:
            if isinstance(value, np.ndarray) and value.ndim:
                value = value[:count] if len(value) == rows else value
                value = cut(value, 1 if value.ndim > 1 else value.ndim) if is_float_array(value) else value
            inputs.append(value)
        try:
            small = varied(function, inputs, cut)
        except Exception:  # the layer's own: it does not allow this size
            continue
        small.dy = tuple(map(_round, small.dy))
        yield small
    yield function


def _round(array: Array) -> Array:
    """Numbers of one digit after the point, none of them 0."""
    rounded = np.round(array, 1)
    return np.where(rounded == 0, 0.1, rounded)
