"""A layer as one scalar function of all its numbers, and the derivatives that its forward shows: exact or estimated."""

import contextlib
import functools
import itertools
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter, Tape, named_parameters
from npbert.gradcheck.exact.digits import gradients_with_digits
from npbert.gradcheck.exact.run import Part
from npbert.gradcheck.forms import Form
from npbert.gradcheck.inputs import as_tuple, copied, copy_of, float_inputs_of, names_of_inputs, replaced
from npbert.gradcheck.report import (
    COMPLEX_STEP,
    FINITE_DIFFERENCES,
    IN_FLOAT32,
    ROUGHLY,
    TOLERANCES,
    GradientError,
    Gradients,
    Report,
)

_STREAM = 20220  # neither dy nor a direction may be what the caller drew from the same seed: it would hide mistakes
_EXACT, _ESTIMATED = 1e-10, 1e-6
_SCALES = 1e-2, 1e-3, 1e-4, 1e-5, 1e-6  # steps of finite differences, relative to the spread of an array
_IN_FLOAT32 = 1e-2, 1e-3  # the same for code that casts to float32: the second where the first goes over a kink
_TINY = 1e-30  # the complex step
_CENTRAL = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60, -1: -45 / 60, -2: 9 / 60, -3: -1 / 60}  # right to O(h⁶)
_RIGHT = {0: -11 / 6, 1: 3.0, 2: -1.5, 3: 1 / 3}  # right to O(h³), on one side of a kink
_LEFT = {-multiple: -weight for multiple, weight in _RIGHT.items()}
_SURE = 1e-5  # a difference counts that changes by no more than this with a tenth of the step, relative to the largest
_MOST_LOOKED_AT = 200  # wrong numbers of an array, near each of which a kink is looked for
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
        y = self.outputs()
        if not all(np.isfinite(part).all() for part in y):
            raise GradientError("forward gives a number that is not finite, where there is no derivative")
        self.dy = tuple(drawn.standard_normal(np.shape(part)) for part in y)
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

    def leave_out(self, names: set[str]) -> None:
        """Take these inputs for constants, as backward returns None for them."""
        self.float_inputs = {name: position for name, position in self.float_inputs.items() if name not in names}

    def zero_grad(self) -> None:
        """Set every gradient to 0."""
        for parameter in self.parameters.values():
            parameter.zero_grad()

    def exact(self) -> Gradients:
        """∂S/∂value for each number, right to the last digit of a float; {} where exact arithmetic has no rule."""
        constant = frozenset(float_inputs_of(self.layer, self.inputs, self.parameters)) - frozenset(self.float_inputs)
        part = Part(self.layer, tuple(self.inputs), self.rng, constant=constant)
        try:
            _, right = gradients_with_digits(part, self.dy, backward=False)
        except Exception:  # of what exact numbers do not flow through
            return {}
        return {name: decimals.astype(np.float64) for name, decimals in right.items()}

    def right(self) -> tuple[Gradients, float]:
        """The gradients as they should be, exact or from differences, and the relative error up to which one that is
        computed in floats agrees with them."""
        exact = self.exact()
        if exact:
            return exact, _EXACT
        if self.differences == IN_FLOAT32:
            return self._by_difference(_IN_FLOAT32[0]), ROUGHLY[IN_FLOAT32]
        return self._differences()[0], _ESTIMATED

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

    def estimated(self, analytic: Gradients, tolerances: dict[str, float]) -> tuple[dict[str, Gradients], Gradients]:
        """The derivatives by each method, and how far the differences may be off: by finite differences, and by the
        complex step where it agrees with them, as complex numbers may make something else of a mask or a maximum."""
        if self.differences == IN_FLOAT32:
            wide, narrow = (self._by_difference(scale) for scale in _IN_FLOAT32)
            closer = {name: np.abs(narrow[name] - said) < np.abs(wide[name] - said) for name, said in analytic.items()}
            return {IN_FLOAT32: {name: np.where(closer[name], narrow[name], wide[name]) for name in closer}}, {}
        numeric, doubts = self._differences(analytic)
        found = {FINITE_DIFFERENCES: numeric}
        if COMPLEX_STEP in tolerances:
            with contextlib.suppress(TypeError):
                by_complex_step = self.by_complex_step()
                if Report.compare(by_complex_step, found, {FINITE_DIFFERENCES: _ESTIMATED}, doubts=doubts).ok:
                    found[COMPLEX_STEP] = by_complex_step
        return found, doubts

    def _differences(self, analytic: Gradients | None = None) -> tuple[Gradients, Gradients]:
        """Finite differences with the step that fits each array, and how far they may be off. Where they are not what
        backward says, a kink may be near: then smaller steps count as well, and the derivative on either side."""
        numeric, doubts = {}, {}
        for name, array in self.variables.items():
            step = {name: np.random.default_rng(0).standard_normal(array.shape) * self._spread(name)}
            with self._movable(np.float64) as variables:
                _, doubt, scale = self._steadiest(variables, step, _CENTRAL)
            numeric[name] = self._by_difference(scale, name)[name]
            doubts[name] = np.full(array.shape, doubt / self._spread(name))
            if analytic is not None:
                self._look_again(name, analytic[name], numeric[name], doubts[name])
        return numeric, doubts

    def _look_again(self, name: str, said: Array, numeric: Array, doubts: Array) -> None:
        """Put the closest of the believable differences where one is not what backward says."""
        largest = max(float(np.abs(numeric).max(initial=0)), float(np.finfo(float).tiny))
        spread = self._spread(name)
        off = np.abs(numeric - said) - doubts > TOLERANCES[FINITE_DIFFERENCES] * largest
        with self._movable(np.float64) as variables:
            for index in map(tuple, np.argwhere(off)[:_MOST_LOOKED_AT]):
                step = {name: spread * _unit(said.shape, index)}
                each = [self._steadiest(variables, step, stencil)[:2] for stencil in (_CENTRAL, _RIGHT, _LEFT)]
                sure = [(value / spread, doubt / spread) for value, doubt in each if doubt / spread <= _SURE * largest]
                if sure:
                    numeric[index], doubts[index] = min(sure, key=lambda pair: abs(pair[0] - said[index]))

    def _steadiest(
        self, variables: Gradients, step: Gradients, stencil: dict[int, float]
    ) -> tuple[float, float, float]:
        """Of the steps, the one at which the difference changes least to the next: the difference there, how far it may
        be off (by this change, and by the rounding of y), and the step."""
        values = [self._difference(variables, step, scale, stencil) for scale in _SCALES]
        rounding = 4 * np.finfo(float).eps * sum(np.abs(dy * y).sum() for dy, y in zip(self.dy, self.outputs(), strict=True))
        doubts = np.abs(np.diff(values)) + rounding / np.array(_SCALES[:-1])
        best = int(np.argmin(doubts))
        return values[best], float(doubts[best]), _SCALES[best]

    def _by_difference(self, scale: float, *names: str) -> Gradients:
        """∂S/∂value for each number of these arrays, or of all, by central differences."""
        with self._movable(np.float64) as variables:
            return {
                name: np.array(
                    [
                        self._difference(variables, {name: _unit(array.shape, index)}, scale * self._spread(name))
                        for index in np.ndindex(array.shape)
                    ]
                ).reshape(array.shape)
                for name, array in self.variables.items()
                if name in (names or self.variables)
            }

    def by_complex_step(self) -> Gradients:
        """∂S/∂value for each number. Raises: TypeError where complex numbers do not flow through forward."""
        with self._movable(np.complex128) as variables:
            return {
                name: np.array(
                    [
                        self._complex_step(variables, {name: _unit(array.shape, index)})
                        for index in np.ndindex(array.shape)
                    ]
                ).reshape(array.shape)
                for name, array in self.variables.items()
            }

    def _spread(self, name: str) -> float:
        """How far the numbers of an array lie apart, or else how large they are: what a step is small beside."""
        array = self.variables[name]
        return float(np.ptp(array)) or float(np.abs(array).max()) or 1.0 if array.size else 1.0

    def compared_along(
        self,
        analytic: Gradients,
        tolerances: dict[str, float],
        count: int,
        seed: int,
        *,
        must_flow: bool = True,
        rounding: Mapping[str, Array] | None = None,
    ) -> Report:
        """The gradients beside estimates along random directions, in each of which all numbers move at once, each
        array in proportion to its spread. must_flow: False leaves the complex step out where complex numbers do not
        flow. rounding: how far each gradient may be off in floats."""
        rng, steps = np.random.default_rng([seed, _STREAM, 1]), []
        for _ in range(count):
            step = {name: self._spread(name) * rng.standard_normal(each.shape) for name, each in analytic.items()}
            length = math.sqrt(sum(each.size for each in step.values()))
            steps.append({name: part / length for name, part in step.items()})
        terms = [[gradient * step[name] for name, gradient in analytic.items()] for step in steps]
        expected = np.array([sum(term.sum() for term in each) for each in terms])
        # rounding is in proportion to what the sum would be if its terms had signs at random, even where they cancel
        scale = np.sqrt([sum((term**2).sum() for term in each) for each in terms])
        unsure = [[rounding[name] * step[name] for name in step] if rounding else [] for step in steps]
        doubt = np.array([math.sqrt(sum((term**2).sum() for term in each)) for each in unsure])
        report = Report.compare({"direction": expected}, {}, tolerances)
        for method in tolerances:
            with contextlib.nullcontext() if must_flow else contextlib.suppress(TypeError):
                values, changes = self._along(method, steps)
                numeric, doubts = {method: {"direction": values}}, {"direction": changes + doubt}
                scales = {"direction": scale}
                report |= Report.compare({"direction": expected}, numeric, tolerances, scales, doubts)
        return report

    def _along(self, method: str, steps: list[Gradients]) -> tuple[Array, Array]:
        """dS/dt at t = 0 for each step, in which the arrays named in it are value + t · step, by an estimate; and how
        far each may be off."""
        if method == COMPLEX_STEP:
            with self._movable(np.complex128) as variables:
                return np.array([self._complex_step(variables, step) for step in steps]), np.zeros(len(steps))
        with self._movable(np.float64) as variables:
            found = [self._steadiest(variables, step, _CENTRAL) for step in steps]
        return np.array([value for value, _, _ in found]), np.array([change for _, change, _ in found])

    def _difference(
        self, variables: Gradients, step: Gradients, h: float, stencil: dict[int, float] = _CENTRAL
    ) -> float:
        """dS/dt by a difference of outputs, before they are added up, as some are large."""
        change = [np.zeros(np.shape(dy)) for dy in self.dy]
        for multiple, weight in stencil.items():
            for total, y in zip(change, self._at(variables, step, multiple * h), strict=True):
                total += weight * y
        return _inner(self.dy, change) / h

    def _complex_step(self, variables: Gradients, step: Gradients) -> float:
        y = self._at(variables, step, 1j * _TINY)
        if not all(map(np.iscomplexobj, y)):
            raise TypeError("its output is real, whatever goes in")
        return _inner(self.dy, [part.imag / _TINY for part in y])

    @contextmanager
    def _movable(self, dtype: Any) -> Iterator[Gradients]:
        """The variables by name as arrays to move, real or complex; the layer's own are put back at the end."""
        inputs = self.inputs
        try:
            with (
                replaced(self.layer, inputs, self.float_inputs, lambda array: array.astype(dtype)) as (
                    self.inputs,
                    variables,
                ),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                yield variables
        except Exception as error:
            of_complex = isinstance(error, TypeError | np.exceptions.ComplexWarning) or isinstance(self.layer, Form)
            if dtype is np.float64 or not of_complex:
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
