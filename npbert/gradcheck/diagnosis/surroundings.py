"""What is known of a layer beside its gradients: sizes, numbers and arrays that may explain an error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Sequences, named_parts
from npbert.gradcheck.diagnosis.formula import NO_FORMULA, Formula, Surroundings
from npbert.gradcheck.diagnosis.roads import formula_of
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import is_whole
from npbert.gradcheck.report import FINITE_DIFFERENCES


@dataclass(frozen=True)
class Known:
    """What `explain` takes, besides the gradients, of one layer at one point."""

    sizes: dict[str, int]
    numbers: dict[str, float]
    heads: int
    lengths: tuple[int, ...]
    inputs: dict[str, Array]
    parameters: dict[str, Array]
    integers: dict[str, Array]
    y: tuple[Array, ...]
    dy: tuple[Array, ...]
    is_elementwise: bool

    @classmethod
    def of(cls, function: ScalarFunction) -> Known:
        """What can be read off the layer and its inputs."""
        inputs = {name: np.asarray(function.inputs[at]) for name, at in function.float_inputs.items()}
        parameters = {name: parameter.value for name, parameter in function.parameters.items()}
        integers = {name: value for name, value in function.named_arrays() if is_whole(value)}
        sequences = next((value for value in function.inputs if isinstance(value, Sequences)), None)
        lengths = () if sequences is None else tuple(map(int, sequences.lengths))
        y, numbers, counts = function.outputs(), numbers_of(function.layer), _counts(function.layer)
        if all(np.size(dy) == 1 for dy in function.dy):
            numbers |= {"dy": float(function.dy[0])} if len(function.dy) == 1 else {}
        heads = counts.get("num_heads", 1)
        arrays = {**inputs, **dict(zip(_names_of_outputs(len(y)), y, strict=True))}
        arrays |= {name: value for name, value in parameters.items() if "." not in name}
        arrays |= {name: value for name, value in function.named_arrays() if name not in integers}
        sizes = dict(_sizes(arrays, integers))
        if lengths:
            sizes |= {"the number of sequences": len(lengths), "the length of the longest sequence": max(lengths)}
        sizes |= {f"the layer's {name}": count for name, count in counts.items()}
        widths = [array.shape[-1] for array in arrays.values() if array.ndim > 1 and array.shape[-1] % heads == 0]
        if heads > 1 and widths:
            sizes = {"the number of columns of a head": widths[0] // heads} | sizes
        return cls(
            sizes, numbers, heads, lengths, inputs, parameters, integers, y, function.dy, _is_elementwise(function, y)
        )

    @property
    def eps(self) -> list[float]:
        """The numbers that may keep a division from one by 0."""
        return [value for value in self.numbers.values() if 0 < value < 1]

    def arrays(self) -> dict[str, Array]:
        """What may have been left out as a factor."""
        known = {**self.parameters, **self.inputs}
        known |= dict(zip(_names_of_outputs(len(self.y)), self.y, strict=True))
        known |= dict(zip((f"d{name}" for name in _names_of_outputs(len(self.y))), self.dy, strict=True))
        for name, x in self.inputs.items():
            if x.ndim > 1:
                known |= _of_rows(name, x, self.eps)
        if self.is_elementwise:
            ((name, x),), y = self.inputs.items(), self.y[0]
            with np.errstate(all="ignore"):
                known |= {f"y / {name}": y / x, "1 − y": 1 - y, "1 − y²": 1 - y * y, f"1 − y / {name}": 1 - y / x}
        return {name: array for name, array in known.items() if array.size > 1 and np.isfinite(array).all()}

    def formula(self, right: Array) -> Formula:
        """The formula whose roads add up to the right gradient, if it is known."""
        vectors = [value for value in self.parameters.values() if value.ndim < 2]
        for x in self.inputs.values() or [np.zeros(0)]:
            ids = list(self.integers.values())
            around = Surroundings(x, self.dy[0], self.y[0], vectors, self.eps, ids, self.is_elementwise)
            found = formula_of(right, around)
            if found.roads:
                return found
        return NO_FORMULA

    def places(self, right: Array) -> dict[str, Array]:
        """Masks of places in an array like `right` that the inputs give a name to."""
        if right.ndim == 0:
            return {}
        return {name: _rows_as_mask(mask, right) for name, mask in self._places(right)}

    def _places(self, right: Array) -> Iterator[tuple[str, Array]]:
        rows = len(right)
        for name, numbers in self.integers.items():
            flat = numbers.ravel()
            if len(flat) == rows and (flat < 0).any():
                yield f"the rows where {name} is negative, as for ignored ones", flat < 0
                yield f"the rows where {name} is not negative", flat >= 0
            if right.ndim == 2 and len(flat) == rows and 0 <= flat.max(initial=-1) < right.shape[1]:
                named = flat[:, None] == np.arange(right.shape[1])
                yield f"the number of each row that stands in the column which {name} names", named
                yield f"the numbers of each row outside of the column which {name} names for it", ~named
            if flat.min(initial=0) >= 0 and 0 <= flat.max(initial=-1) < rows:
                times = np.bincount(flat, minlength=rows)
                yield f"the rows that {name} names more than once", times > 1
                yield f"the rows that {name} names", times > 0
                yield f"the rows that {name} does not name", times == 0
        if self.lengths and sum(self.lengths) == rows:
            ends = np.cumsum(self.lengths)
            yield "the first row of each sequence", np.isin(np.arange(rows), ends - self.lengths)
            yield "the last row of each sequence", np.isin(np.arange(rows), ends - 1)
            for number, (end, length) in enumerate(zip(ends, self.lengths, strict=True)):
                yield f"sequence {number} (counted from 0)", (np.arange(rows) < end) & (np.arange(rows) >= end - length)
        for name, array in {**self.inputs, "y": self.y[0]}.items():
            if array.shape == right.shape:
                yield f"where {name} is negative", array < 0
                yield f"where {name} is positive", array > 0
                yield f"where {name} is 0", array == 0
                if array.ndim > 1:
                    yield f"where {name} is the largest of its row", array == array.max(axis=-1, keepdims=True)


def _is_elementwise(function: ScalarFunction, y: tuple[Array, ...]) -> bool:
    """Whether there is one input, of the shape of y, and each of its numbers moves its own y alone: tried on a few."""
    names = list(function.float_inputs)
    if len(names) != 1 or len(y) != 1 or function.inputs[function.float_inputs[names[0]]].shape != y[0].shape:
        return False
    with function.movable(FINITE_DIFFERENCES) as variables:
        x = variables[names[0]]
        for number in range(0, x.size, max(1, x.size // 3)):
            index = np.unravel_index(number, x.shape)
            start, x[index] = x[index], x[index] + 0.5
            differs = function.outputs()[0] != y[0]
            x[index], differs[index] = start, False
            if differs.any():
                return False
    return True


def _rows_as_mask(mask: Array, right: Array) -> Array:
    return mask if mask.ndim == right.ndim else mask.reshape(len(mask), *[1] * (right.ndim - 1))


def _names_of_outputs(count: int) -> list[str]:
    return ["y"] if count == 1 else [f"y[{number}]" for number in range(count)]


def numbers_of(layer: Any) -> dict[str, float]:
    """The floats among the attributes of the layer and its parts, such as p and eps."""
    return {
        name: value
        for _, part in named_parts(layer)
        for name, value in getattr(part, "__dict__", {}).items()
        if isinstance(value, float) and math.isfinite(value) and not name.startswith("_")
    }


def _counts(layer: Any) -> dict[str, int]:
    """The whole numbers among them, such as num_heads."""
    return {
        name: value
        for _, part in named_parts(layer)
        for name, value in getattr(part, "__dict__", {}).items()
        if isinstance(value, int) and not isinstance(value, bool) and 1 < value < 10**6 and not name.startswith("_")
    }


def _sizes(arrays: dict[str, Array], integers: dict[str, Array]) -> Iterator[tuple[str, int]]:
    for name, array in arrays.items():
        if array.ndim == 2:
            yield f"the number of columns of {name}", array.shape[1]
            yield f"the number of rows of {name}", array.shape[0]
        elif array.ndim > 2:
            yield from ((f"the size of axis {axis} of {name}", size) for axis, size in enumerate(array.shape))
        if array.ndim > 0:
            yield f"the number of elements of {name}", array.size
    for name, numbers in integers.items():
        if numbers.ndim > 1:
            yield f"the number of rows of {name}", len(numbers)
        yield f"the number of elements of {name}", numbers.size
        if (numbers < 0).any():
            yield f"the number of {name} that are not ignored", int((numbers >= 0).sum())


def _of_rows(name: str, x: Array, eps: list[float]) -> dict[str, Array]:
    """Numbers that each row has one of."""
    squares, variance = (x * x).mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    found = {f"the mean of each row of {name}": x.mean(axis=-1, keepdims=True)}
    for small in dict.fromkeys([0.0, *eps]):
        of = f"each row of {name}" + (f" (with eps {small:g})" if small else " (without eps)" if eps else "")
        found[f"the σ of {of}"] = np.sqrt(variance + small)
        found[f"the root mean square of {of}"] = np.sqrt(squares + small)
    found[f"the length of each row of {name}"] = np.sqrt(squares * x.shape[-1])
    return found
