"""A layer as one scalar function of all its numbers, and the derivatives that its forward shows: exact or estimated."""

import contextlib
import functools
import itertools
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter, Tape, named_parameters
from npbert.gradcheck.exact.digits import gradients_with_digits
from npbert.gradcheck.exact.run import UNKNOWN, Part
from npbert.gradcheck.forms import Form
from npbert.gradcheck.inputs import as_tuple, copied, copy_of, float_inputs_of, names_of_inputs, replaced
from npbert.gradcheck.report import (
    COMPLEX_STEP,
    FINITE_DIFFERENCES,
    IN_FLOAT32,
    ROUGHLY,
    GradientError,
    Gradients,
    Report,
)

_STREAM = 20220  # neither dy nor a direction may be what the caller drew from the same seed: it would hide mistakes
_EXACT, _ESTIMATED = 1e-10, 1e-6
_NARROW = "narrow finite differences"
_STEP = {FINITE_DIFFERENCES: 1e-3, IN_FLOAT32: 1e-2, _NARROW: 1e-3, COMPLEX_STEP: 1e-30}
_NEAR_KINKS = 1e-2  # so much of the step, where nobody has kept the inputs away from kinks
_STENCIL = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}  # dS/dx = Σ weight · (S(x + multiple h) − S(x − multiple h)) / h + O(h⁶)
_DTYPE = {method: np.complex128 if method == COMPLEX_STEP else np.float64 for method in _STEP}
_NEARBY, _ROUGH = 1e-6, 1e-9  # a smooth function has bent by the square of the first when it has moved by it


class ScalarFunction:
    """S = Σ dy · y as a function of the parameters and the float inputs of a layer."""

    def __init__(self, layer: Any, inputs: tuple[Any, ...], rng: np.random.Generator | None, seed: int) -> None:
        self.layer = layer
        self.inputs = list(map(copied, inputs))
        self.rng = rng
        self.parameters: dict[str, Parameter] = dict(named_parameters(layer))
        self.float_inputs = float_inputs_of(layer, inputs, self.parameters)
        self._check_variables()
        drawn = np.random.default_rng([seed, _STREAM])
        self.dy = tuple(drawn.standard_normal(np.shape(y)) for y in self.outputs())
        self.inputs = list(map(copied, inputs))  # forward may have written into them

    @property
    def variables(self) -> Gradients:
        """All that can be moved: the parameters' values and the float inputs, by name."""
        values = {name: parameter.value for name, parameter in self.parameters.items()}
        return values | {name: self.inputs[position] for name, position in self.float_inputs.items()}

    def _check_variables(self) -> None:
        if not any(array.size for array in self.variables.values()):
            raise ValueError("there is nothing to check: no parameters, and no float array among the inputs")
        for name, array in self.variables.items():
            if array.dtype != np.float64:
                raise TypeError(f"{name} is {array.dtype}; a check needs float64, in the layer and in its inputs")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} holds a number that is not finite, where there is no derivative")
        for (name, one), (other_name, other) in itertools.combinations(self.parameters.items(), 2):
            if np.may_share_memory(one.value, other.value):
                raise GradientError(f"{name} and {other_name} share memory: a tied weight is one Parameter, held twice")

    @property
    def size(self) -> int:
        """The count of all numbers that can be moved."""
        return sum(array.size for array in self.variables.values())

    def outputs(self) -> tuple[Array, ...]:
        """y, each time with the same dropout."""
        y = self.layer.forward(*self.inputs, tape=Tape(copy_of(self.rng), keeps=False))
        return tuple(map(np.copy, as_tuple(y)))  # y may be x itself, which is moved again

    def named_inputs(self) -> list[tuple[str, Any]]:
        """All inputs with the names that forward gives them."""
        return list(zip(names_of_inputs(self.layer, len(self.inputs)), self.inputs, strict=True))

    @contextmanager
    def unchanged(self) -> Iterator[Gradients]:
        """While it lasts, values are copies, and gradients 0 at first; afterwards all of the layer is as it was. Gives
        the values by name, which no backward can change."""
        values = {name: parameter.value for name, parameter in self.parameters.items()}
        with replaced(self.layer, self.inputs, self.float_inputs, np.copy):
            yield values

    def zero_grad(self) -> None:
        """Set every gradient to 0."""
        for parameter in self.parameters.values():
            parameter.zero_grad()

    def exact(self) -> Gradients:
        """∂S/∂value for each number, right to the last digit of a float; {} where exact arithmetic has no rule."""
        try:
            _, right = gradients_with_digits(Part(self.layer, tuple(self.inputs), self.rng), self.dy)
        except (GradientError, *UNKNOWN):
            return {}
        return {name: decimals.astype(np.float64) for name, decimals in right.items()}

    def right(self) -> tuple[Gradients, float]:
        """The gradients as they should be, exact or from differences, and the relative error up to which one that is
        computed in floats agrees with them."""
        exact = self.exact()
        if exact:
            return exact, _EXACT
        return self.by_number(self.differences), ROUGHLY.get(self.differences, _ESTIMATED)

    @functools.cached_property
    def differences(self) -> str:
        """The finite differences that fit: those of float32 where what others wrote casts to it, on the way there or
        back, which shows as steps where float64 is smooth."""
        if not isinstance(self.layer, Form):
            return FINITE_DIFFERENCES

        def values(t: float) -> list[Array]:
            moved = [x * (1 + t) if p in self.float_inputs.values() else x for p, x in enumerate(self.inputs)]
            y = self.layer.forward(*moved, tape=(tape := Tape()))
            dy = self.dy if isinstance(y, tuple) else self.dy[0]
            return [*as_tuple(y), *self.layer.backward(dy, tape)]

        with contextlib.suppress(Exception):  # the author's own
            for moved in zip(*(values(step * _NEARBY) for step in range(9)), strict=True):
                bends = np.abs(np.diff(moved, n=2, axis=0))
                if bends.max(initial=0) > _ROUGH * np.abs(moved).max(initial=0):
                    return IN_FLOAT32
        return FINITE_DIFFERENCES

    def estimated(self, analytic: Gradients, tolerances: dict[str, float]) -> dict[str, Gradients]:
        """The derivatives by each method. Of what others wrote, by finite differences; and by the complex step if it
        agrees with them, as nobody knows what complex numbers make of a mask or a maximum there. A step that is wide
        enough for float32 may go over a kink, so a narrower one is taken where that is nearer to the analytic."""
        if not isinstance(self.layer, Form):
            return {method: self.by_number(method) for method in tolerances}
        found = {self.differences: self.by_number(self.differences)}
        if self.differences == IN_FLOAT32:
            for name, narrow in self.by_number(_NARROW).items():
                wide, said = found[IN_FLOAT32][name], analytic[name]
                found[IN_FLOAT32][name] = np.where(np.abs(narrow - said) < np.abs(wide - said), narrow, wide)
            return found
        with contextlib.suppress(TypeError):
            by_complex_step = self.by_number(COMPLEX_STEP)
            if Report.compare(by_complex_step, found, {FINITE_DIFFERENCES: _ESTIMATED}).ok:
                found[COMPLEX_STEP] = by_complex_step
        return found

    def by_number(self, method: str) -> Gradients:
        """∂S/∂value for each number, by an estimate."""
        return {
            name: self._slopes(
                method, ({name: _unit(array.shape, index)} for index in np.ndindex(array.shape))
            ).reshape(array.shape)
            for name, array in self.variables.items()
        }

    def compared_along(
        self, analytic: Gradients, tolerances: dict[str, float], count: int, seed: int, *, must_flow: bool = True
    ) -> Report:
        """The gradients beside estimates along random directions, in each of which all numbers move at once, together
        by 1. must_flow: False leaves the complex step out where complex numbers do not flow."""
        rng, steps = np.random.default_rng([seed, _STREAM, 1]), []
        for _ in range(count):
            step = {name: rng.standard_normal(gradient.shape) for name, gradient in analytic.items()}
            length = np.sqrt(sum((part * part).sum() for part in step.values()))
            steps.append({name: part / length for name, part in step.items()})
        terms = [[gradient * step[name] for name, gradient in analytic.items()] for step in steps]
        expected = np.array([sum(term.sum() for term in each) for each in terms])
        # rounding is in proportion to what the sum would be if its terms had signs at random, even where they cancel
        scale = np.sqrt([sum((term**2).sum() for term in each) for each in terms])
        numeric = {}
        for method in tolerances:
            with contextlib.nullcontext() if must_flow else contextlib.suppress(TypeError):
                numeric[method] = {"direction": self._slopes(method, steps)}
        return Report.compare({"direction": expected}, numeric, tolerances, {"direction": scale})

    def _slopes(self, method: str, steps: Iterable[Gradients]) -> Array:
        """dS/dt at t = 0 for each step, in which the arrays named in it are value + t · step, by an estimate."""
        with self._movable(method) as variables:
            return np.array([self._slope(method, variables, step) for step in steps])

    def _slope(self, method: str, variables: Gradients, step: Gradients) -> float:
        h = _STEP[method] * (_NEAR_KINKS if method == FINITE_DIFFERENCES and isinstance(self.layer, Form) else 1)
        if method == COMPLEX_STEP:
            y = self._at(variables, step, 1j * h)
            if not all(map(np.iscomplexobj, y)):
                raise TypeError("its output is real, whatever goes in")
            return _inner(self.dy, [part.imag / h for part in y])
        change = [np.zeros(np.shape(dy)) for dy in self.dy]
        for multiple, weight in _STENCIL.items():
            both = (self._at(variables, step, t) for t in (multiple * h, -multiple * h))
            for total, up, down in zip(change, *both, strict=True):
                total += weight * (up - down) / h
        return _inner(self.dy, change)

    @contextmanager
    def _movable(self, method: str) -> Iterator[Gradients]:
        """The variables by name as arrays to move, real or complex; the layer's own are put back at the end."""
        inputs = self.inputs
        try:
            with (
                replaced(self.layer, inputs, self.float_inputs, lambda array: array.astype(_DTYPE[method])) as (
                    self.inputs,
                    variables,
                ),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                yield variables
        except Exception as error:
            of_complex = isinstance(error, TypeError | np.exceptions.ComplexWarning) or isinstance(self.layer, Form)
            if method != COMPLEX_STEP or not of_complex:
                raise
            wish = "write it without abs, var and the like, or leave the complex step out of `tolerances`"
            raise TypeError(f"complex numbers do not flow through forward ({error}): {wish}") from error
        finally:
            self.inputs = inputs

    def _at(self, variables: Gradients, step: Gradients, t: complex) -> tuple[Array, ...]:
        """y where the arrays that are named in `step` are larger by t · step."""
        starts = {name: variables[name].copy() for name in step}
        for name, by in step.items():
            variables[name][...] += t * by
        y = self.outputs()
        for name, start in starts.items():
            variables[name][...] = start
        return y


def _unit(shape: tuple[int, ...], index: tuple[int, ...]) -> Array:
    """0 but for a 1 at the index."""
    unit = np.zeros(shape)
    unit[index] = 1
    return unit


def _inner(dy: tuple[Array, ...], y: Any) -> float:
    return float(sum((each * part).sum() for each, part in zip(dy, y, strict=True)))
