"""A layer as one scalar function of all its numbers: what backward says of its derivatives, and what forward shows."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter, Tape, named_parameters
from npbert.gradcheck.contract import Contract
from npbert.gradcheck.inputs import arrays_in, as_tuple, copy_of, float_inputs_of, names_of_inputs, read_only
from npbert.gradcheck.report import COMPLEX_STEP, FINITE_DIFFERENCES, GradientError, Gradients, WrongShapeError

_STREAM = 20220  # dy must not be what the caller drew from the same seed: an x equal to dy would hide mistakes
_STEP = {FINITE_DIFFERENCES: 1e-3, COMPLEX_STEP: 1e-30}
_STENCIL = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}  # dS/dx = Σ weight · (S(x + multiple h) − S(x − multiple h)) / h + O(h⁶)
DTYPE = {FINITE_DIFFERENCES: np.float64, COMPLEX_STEP: np.complex128}


class ScalarFunction:
    """S = Σ dy · y as a function of the parameters and the float inputs of a layer."""

    def __init__(self, layer: Any, inputs: tuple[Any, ...], rng: np.random.Generator | None, seed: int) -> None:
        self.layer = layer
        self.inputs = [read_only(value) for value in inputs]
        self.rng = rng
        self.parameters: dict[str, Parameter] = dict(named_parameters(layer))
        self.float_inputs = float_inputs_of(layer, inputs, self.parameters)
        self._check_variables()
        drawn = np.random.default_rng([seed, _STREAM])
        self.dy = tuple(read_only(drawn.standard_normal(np.shape(y))) for y in self.outputs())

    def _check_variables(self) -> None:
        variables = {name: parameter.value for name, parameter in self.parameters.items()}
        variables.update({name: self.inputs[position] for name, position in self.float_inputs.items()})
        if not any(array.size for array in variables.values()):
            raise ValueError("there is nothing to check: no parameters, and no float array among the inputs")
        for name, array in variables.items():
            if array.dtype != np.float64:
                raise TypeError(f"{name} is {array.dtype}; a check needs float64, in the layer and in its inputs")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} holds a number that is not finite, where there is no derivative")
        for (name, one), (other_name, other) in itertools.combinations(self.parameters.items(), 2):
            if np.may_share_memory(one.value, other.value):
                raise GradientError(f"{name} and {other_name} share memory: a tied weight is one Parameter, held twice")

    def outputs(self) -> tuple[Array, ...]:
        """y, each time with the same dropout."""
        y = self.layer.forward(*self.inputs, tape=Tape(copy_of(self.rng), keeps=False))
        return tuple(map(np.copy, as_tuple(y)))  # y may be x itself, which is moved again

    @property
    def size(self) -> int:
        """How many numbers can be moved."""
        inputs = sum(self.inputs[position].size for position in self.float_inputs.values())
        return inputs + sum(parameter.value.size for parameter in self.parameters.values())

    def named_inputs(self) -> list[tuple[str, Any]]:
        """All inputs with the names that forward gives them."""
        return list(zip(names_of_inputs(self.layer, len(self.inputs)), self.inputs, strict=True))

    def named_arrays(self) -> list[tuple[str, Array]]:
        """The arrays among the inputs, those in a dataclass (a Batch) too."""
        return [(field or name, array) for name, value in self.named_inputs() for field, array in arrays_in(value)]

    def gradients(self, *, tried: bool = True) -> Gradients:
        """What backward says, once the layer has shown that it keeps its contract; or untried, of one call."""
        values = {name: parameter.value.copy() for name, parameter in self.parameters.items()}
        before = {name: parameter.grad.copy() for name, parameter in self.parameters.items()}
        contract = Contract(self.layer, self.inputs, self.dy, self.rng, self.parameters, self.float_inputs)
        try:
            return contract.gradients() if tried else contract.gradients_of_one_call()
        except (ValueError, TypeError) as error:
            self._name_what_was_refused(error)
            raise
        finally:
            for name, parameter in self.parameters.items():
                parameter.value[...] = values[name]
                parameter.zero_grad()
                parameter.add_grad(before[name])

    def _name_what_was_refused(self, error: Exception) -> None:
        """Raise WrongShapeError if the error is that of a parameter which refused its gradient."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is None or trace.tb_frame.f_code is not Parameter.add_grad.__code__:
            return
        refused, gradient = (trace.tb_frame.f_locals[name] for name in ("self", "grad"))
        for name, parameter in self.parameters.items():
            if parameter is refused:
                raise WrongShapeError(name, gradient, parameter.value.shape) from error

    @contextmanager
    def movable(self, method: str) -> Iterator[Gradients]:
        """The variables by name as arrays to move, real or complex; the layer's own are put back at the end."""
        values, inputs = [parameter.value for parameter in self.parameters.values()], self.inputs
        variables = {}
        try:
            for name, parameter in self.parameters.items():
                variables[name] = parameter.value = parameter.value.astype(DTYPE[method])
            self.inputs = list(inputs)
            for name, position in self.float_inputs.items():
                variables[name] = self.inputs[position] = inputs[position].astype(DTYPE[method])
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
            y = outputs_at(1j * h)
            if not all(map(np.iscomplexobj, y)):
                raise TypeError("its output is real, whatever goes in")
            change = [part.imag / h for part in y]
        else:
            change = [np.zeros(np.shape(dy)) for dy in self.dy]
            for multiple, weight in _STENCIL.items():
                for total, up, down in zip(change, outputs_at(multiple * h), outputs_at(-multiple * h), strict=True):
                    total += weight * (up - down) / h
        for (array, index, _), start in zip(moves, starts, strict=True):
            array[index] = start
        return float(sum((dy * dy_dt).sum() for dy, dy_dt in zip(self.dy, change, strict=True)))
