"""A layer as one scalar function of all its numbers: what backward says of its derivatives, and what forward shows."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from npbert.gradcheck.report import COMPLEX_STEP, FINITE_DIFFERENCES, GradientError, Gradients
from npbert.layers.parameter import Array, Cache, Parameter, named_parameters

_STEP = {FINITE_DIFFERENCES: 1e-3, COMPLEX_STEP: 1e-30}
_STENCIL = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}  # dS/dx = Σ weight · (S(x + multiple h) − S(x − multiple h)) / h + O(h⁶)
_DTYPE = {FINITE_DIFFERENCES: np.float64, COMPLEX_STEP: np.complex128}


class ScalarFunction:
    """S = Σ dy · y as a function of the parameters and the float inputs of a layer."""

    def __init__(self, layer: Any, inputs: tuple[Any, ...], seed: int) -> None:
        self.layer = layer
        self.inputs = list(inputs)
        self.parameters: dict[str, Parameter] = dict(named_parameters(layer))
        self.float_inputs = _names_of_float_inputs(layer, inputs)
        variables = {name: parameter.value for name, parameter in self.parameters.items()}
        variables.update({name: inputs[position] for name, position in self.float_inputs.items()})
        for name, array in variables.items():
            if array.dtype != np.float64:
                raise TypeError(
                    f"{name} is {array.dtype}; a proof needs float64: build the layer with dtype=np.float64"
                )
        if not variables:
            raise ValueError("there is nothing to prove: no parameters, and no float array among the inputs")
        rng = np.random.default_rng(seed)
        self.dy = tuple(rng.standard_normal(np.shape(y)) for y in self.outputs())

    def forward(self) -> tuple[Any, Cache]:
        result: tuple[Any, Cache] = self.layer.forward(*_copy_generators(self.inputs))
        return result

    def outputs(self) -> tuple[Array, ...]:
        y, _ = self.forward()
        return tuple(map(np.copy, y if isinstance(y, tuple) else (y,)))  # y may be x itself, which is moved again

    def gradients(self) -> Gradients:
        """What backward says. It is asked twice, as the second answer must be added to the first."""
        values = {name: parameter.value.copy() for name, parameter in self.parameters.items()}
        before = {name: parameter.grad.copy() for name, parameter in self.parameters.items()}
        try:
            for parameter in self.parameters.values():
                parameter.grad[...] = 0
            once = self._backward()
            twice = self._backward()
            for name, parameter in self.parameters.items():
                if not np.array_equal(parameter.value, values[name], equal_nan=True):
                    raise GradientError(f"backward changes the value of {name}: only an optimiser may")
                if not np.allclose(twice[name], 2 * once[name], rtol=1e-9, atol=1e-9, equal_nan=True):
                    raise GradientError(f"backward sets the gradient of {name}, where it should add to it")
        finally:
            for name, parameter in self.parameters.items():
                parameter.value[...] = values[name]
                parameter.grad[...] = before[name]
        return once

    def _backward(self) -> Gradients:
        """The gradients after one more forward and backward.

        Inputs and dy cannot be written to, and a forward of other inputs comes between the two.
        """
        frozen = [_read_only(value) for value in self.inputs]
        _, cache = self.layer.forward(*_copy_generators(frozen))
        self.layer.forward(*_copy_generators([_other(value) for value in self.inputs]))
        dy = tuple(map(_read_only, self.dy))
        returned = self.layer.backward(dy[0] if len(dy) == 1 else dy, cache)
        if not isinstance(returned, tuple):
            returned = () if returned is None else (returned,)
        if len(returned) != len(self.float_inputs):
            raise GradientError(f"backward returns {len(returned)} gradients, for inputs {list(self.float_inputs)}")
        gradients = {name: parameter.grad.copy() for name, parameter in self.parameters.items()}
        for (name, position), gradient in zip(self.float_inputs.items(), returned, strict=True):
            if gradient.shape != self.inputs[position].shape:
                wanted = self.inputs[position].shape
                raise GradientError(f"backward returns a gradient of shape {gradient.shape} for {name} {wanted}")
            gradients[name] = gradient.copy()
        return gradients

    @contextmanager
    def movable(self, method: str) -> Iterator[Gradients]:
        """The variables by name as arrays to move, real or complex; the layer's own are put back at the end."""
        values, inputs = [parameter.value for parameter in self.parameters.values()], self.inputs
        variables = {}
        try:
            for name, parameter in self.parameters.items():
                variables[name] = parameter.value = parameter.value.astype(_DTYPE[method])
            self.inputs = list(inputs)
            for name, position in self.float_inputs.items():
                variables[name] = self.inputs[position] = inputs[position].astype(_DTYPE[method])
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                yield variables
        except (TypeError, np.exceptions.ComplexWarning) as error:
            if method != COMPLEX_STEP:
                raise
            wish = "write it without abs, var and the like, or leave the complex step out of `tolerances`"
            raise TypeError(f"complex numbers do not flow through forward ({error}): {wish}") from error
        finally:
            self.inputs = inputs
            for parameter, value in zip(self.parameters.values(), values, strict=True):
                parameter.value = value

    def derivative(self, method: str, moves: list[tuple[Array, Any, Any]]) -> float:
        """dS/dt at t = 0, when array[index] = start + t · amount for all the `moves` (array, index, amount) at once."""
        starts = [np.copy(array[index]) for array, index, _ in moves]

        def outputs_at(t: complex) -> tuple[Array, ...]:
            for (array, index, amount), start in zip(moves, starts, strict=True):
                array[index] = start + t * amount
            return self.outputs()

        h = _STEP[method]
        if method == COMPLEX_STEP:
            change = [np.imag(y) / h for y in outputs_at(1j * h)]
        else:
            change = [np.zeros(np.shape(dy)) for dy in self.dy]
            for multiple, weight in _STENCIL.items():
                for total, up, down in zip(change, outputs_at(multiple * h), outputs_at(-multiple * h), strict=True):
                    total += weight * (up - down) / h
        for (array, index, _), start in zip(moves, starts, strict=True):
            array[index] = start
        return float(sum((dy * dy_dt).sum() for dy, dy_dt in zip(self.dy, change, strict=True)))


def _names_of_float_inputs(layer: Any, inputs: tuple[Any, ...]) -> dict[str, int]:
    """The positions of the float arrays among the inputs, by the names that forward gives them."""
    parameters = inspect.signature(layer.forward).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind != parameter.VAR_POSITIONAL]
    is_float = [isinstance(value, np.ndarray) and value.dtype.kind == "f" for value in inputs]
    return {
        names[position] if position < len(names) else f"input {position}": position
        for position in range(len(inputs))
        if is_float[position]
    }


def _copy_generators(values: list[Any]) -> list[Any]:
    """The values, with a copy of each Generator, so that every call draws the same."""
    return [copy.deepcopy(value) if isinstance(value, np.random.Generator) else value for value in values]


def _read_only(value: Any) -> Any:
    """A copy that cannot be written to, if `value` is an array."""
    if not isinstance(value, np.ndarray):
        return value
    value = value.copy()
    value.flags.writeable = False
    return value


def _other(value: Any) -> Any:
    """Another value of the same kind, if `value` holds floats."""
    is_float = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return value + 1 if is_float else value
