"""A layer as one scalar function of all its numbers, with its exact or estimated derivatives."""

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.bridge import steadiest
from npbert.gradcheck.movable import MovableLayer
from npbert.gradcheck.report import (
    COMPLEX_STEP,
    FINITE_DIFFERENCES,
    IN_FLOAT32,
    ROUGHLY,
    TOLERANCES,
    Gradients,
    Report,
)

_STREAM = 20220  # keeps dy and directions apart from the caller's draws with the same seed, which would hide mistakes
_EXACT, _ESTIMATED = 1e-10, 1e-6
_SCALES = 10.0 ** -np.arange(2, 14)  # steps of finite differences, relative to the spread of an array
_COARSE = 2  # the scales tried first
_TINY = 1e-30  # the complex step
_EPSILONS = {IN_FLOAT32: 2.0**-23, FINITE_DIFFERENCES: 2.0**-52}
_SLACK = 4.0
_CENTRAL = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60, -1: -45 / 60, -2: 9 / 60, -3: -1 / 60}  # right to O(h⁶)
_RIGHT = {0: -11 / 6, 1: 3.0, 2: -1.5, 3: 1 / 3}  # right to O(h³), on one side of a kink
_LEFT = {-multiple: -weight for multiple, weight in _RIGHT.items()}
# the allowed change of a difference for a tenth of the step, relative to the largest
_SURE = {IN_FLOAT32: 1e-2, FINITE_DIFFERENCES: 1e-5}
_MOST_LOOKED_AT = 200  # the most wrong numbers of an array to check for a kink


class ScalarFunction(MovableLayer):
    """S = Σ dy · y as a function of the parameters and the float inputs of a layer."""

    def right(self) -> tuple[Gradients, float]:
        """The right gradients, exact or from differences, and the relative tolerance for gradients in floats."""
        exact = self.exact()
        if exact:
            return exact, _EXACT
        return self._differences()[0], ROUGHLY.get(self.differences, _ESTIMATED)

    def estimated(
        self, analytic: Gradients, tolerances: dict[str, float]
    ) -> Iterator[tuple[str, Gradients, Gradients]]:
        """Yield each method with its derivatives and error bounds: finite differences, and the complex step if it
        agrees with them (complex numbers may change a mask or a maximum)."""
        numeric, doubts = self._differences(analytic)
        if self.differences == IN_FLOAT32:
            yield IN_FLOAT32, numeric, {}
            return
        yield FINITE_DIFFERENCES, numeric, doubts
        if COMPLEX_STEP in tolerances:
            with contextlib.suppress(TypeError):
                by_complex_step = self.by_complex_step()
                if Report.compare(FINITE_DIFFERENCES, by_complex_step, numeric, _ESTIMATED, doubts=doubts).ok:
                    yield COMPLEX_STEP, by_complex_step, {}

    def _differences(self, analytic: Gradients | None = None) -> tuple[Gradients, Gradients]:
        """Return finite differences with the best step for each array, and error bounds. If they disagree with
        backward, a kink may be near: then smaller steps and one-sided derivatives count, too."""
        numeric, doubts = {}, {}
        for name, array in self.variables.items():
            step = {name: np.random.default_rng(0).standard_normal(array.shape) * self.spread(name)}
            with self.movable(np.float64) as variables:
                _, doubt, scale = self._steadiest(variables, step, _CENTRAL)
                h = scale * self.spread(name)
                difference = functools.partial(self._difference, variables, h=h)
                numeric[name] = _of_each(array.shape, name, difference)
            doubts[name] = np.full(array.shape, doubt / self.spread(name))
            if analytic is not None:
                self._look_again(name, analytic[name], numeric[name], doubts[name])
        return numeric, doubts

    def _look_again(self, name: str, said: Array, numeric: Array, doubts: Array) -> None:
        """Replace a difference that disagrees with backward by the closest credible one."""
        largest = max(float(np.abs(each).max(initial=0)) for each in (numeric, said)) or 1.0
        sure = _SURE[self.differences]
        doubts[doubts > sure * largest] = 0.0
        off = np.abs(numeric - said) - doubts > TOLERANCES[FINITE_DIFFERENCES] * largest
        if not off.any():
            return
        exact = self.exact()
        with self.movable(np.float64) as variables:
            for index in map(tuple, np.argwhere(off)[:_MOST_LOOKED_AT]):
                tried = self._around(variables, name, index)
                believed = _believable(tried, said[index], largest, sure)
                if believed is None and exact:  # no step is small enough
                    believed = exact[name][index], 0.0
                if believed is None:  # floats show no more than this
                    value, doubt = min(tried, key=lambda each: each[1])
                    believed = value, _SLACK * doubt
                numeric[index], doubts[index] = believed

    def _around(self, variables: Gradients, name: str, index: tuple[int, ...]) -> list[tuple[float, float]]:
        """Return ∂S/∂value of one number by central, right and left differences, with their doubts."""
        spread = self.spread(name)
        step = {name: spread * _unit(variables[name].shape, index)}
        found = [self._steadiest(variables, step, stencil) for stencil in (_CENTRAL, _RIGHT, _LEFT)]
        return [(value / spread, doubt / spread) for value, doubt, _ in found]

    def _steadiest(
        self, variables: Gradients, step: Gradients, stencil: dict[int, float]
    ) -> tuple[float, float, float]:
        """Return the steadiest difference, its error bound, and its step."""
        rounding = self._rounding(variables, step) / _SCALES
        values = np.array([self._difference(variables, step, scale, stencil) for scale in _SCALES[:_COARSE]])
        value, doubt, best = steadiest(values, rounding[:_COARSE])
        if doubt > _SURE[self.differences] * abs(value):
            finer = [self._difference(variables, step, scale, stencil) for scale in _SCALES[_COARSE:]]
            value, doubt, best = steadiest(np.array([*values, *finer]), rounding)
        return value, doubt, _SCALES[best]

    def _rounding(self, variables: Gradients, step: Gradients) -> float:
        """Return the rounding error of S, from y and from the variables, measured as its change for another
        rounding."""
        signs, epsilon = np.random.default_rng(0), _EPSILONS[self.differences]
        ulps = {name: variables[name] * signs.choice([-1.0, 1.0], by.shape) * (by != 0) for name, by in step.items()}
        ys = zip(self.dy, self.outputs(), self.at(variables, ulps, epsilon), strict=True)
        return _SLACK * float(
            sum((np.abs(dy) * (epsilon * np.abs(y) + np.abs(other - y))).sum() for dy, y, other in ys)
        )

    def by_complex_step(self) -> Gradients:
        """Return ∂S/∂value for each number. Raises: TypeError if forward cannot run on complex numbers."""
        with self.movable(np.complex128) as variables:
            return {
                name: _of_each(array.shape, name, functools.partial(self._complex_step, variables))
                for name, array in variables.items()
            }

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
        """Compare the gradients with estimates along random directions, in which all numbers move at once, each array
        in proportion to its spread.

        must_flow: False: skip the complex step if forward cannot run on complex numbers. rounding: of each gradient in
        floats."""
        rng, steps = np.random.default_rng([seed, _STREAM, 1]), list[Gradients]()
        expected, scale, doubt = np.zeros((3, count))
        for number in range(count):
            drawn = {name: self.spread(name) * rng.standard_normal(each.shape) for name, each in analytic.items()}
            length = math.sqrt(sum(each.size for each in drawn.values()))
            step = {name: part / length for name, part in drawn.items()}
            terms = [gradient * step[name] for name, gradient in analytic.items()]
            expected[number] = sum(term.sum() for term in terms)
            # rounding is as large as a sum of the terms with random signs, even if they cancel
            scale[number] = _length(terms)
            doubt[number] = _length([rounding[name] * part for name, part in step.items()]) if rounding else 0.0
            steps.append(step)
        along, scales = {"direction": expected}, {"direction": scale}
        report = Report.on(along)
        for method, tolerance in tolerances.items():
            with contextlib.nullcontext() if must_flow else contextlib.suppress(TypeError):
                values, changes = self._along(method, steps)
                doubts = {"direction": changes + doubt}
                report |= Report.compare(method, along, {"direction": values}, tolerance, scales, doubts)
        return report

    def _along(self, method: str, steps: list[Gradients]) -> tuple[Array, Array]:
        """Return an estimate of dS/dt at t = 0 for each step, with the arrays named in it at value + t · step, and
        error bounds."""
        if method == COMPLEX_STEP:
            with self.movable(np.complex128) as variables:
                return np.array([self._complex_step(variables, step) for step in steps]), np.zeros(len(steps))
        with self.movable(np.float64) as variables:
            found = [self._steadiest(variables, step, _CENTRAL) for step in steps]
        return np.array([value for value, _, _ in found]), np.array([change for _, change, _ in found])

    def _difference(
        self, variables: Gradients, step: Gradients, h: float, stencil: dict[int, float] = _CENTRAL
    ) -> float:
        """Return dS/dt by differences of the outputs before their sum, as some are large."""
        change = [np.zeros(np.shape(dy)) for dy in self.dy]
        for multiple, weight in stencil.items():
            for total, y in zip(change, self.at(variables, step, multiple * h), strict=True):
                total += weight * y
        return _inner(self.dy, change) / h

    def _complex_step(self, variables: Gradients, step: Gradients) -> float:
        y = self.at(variables, step, 1j * _TINY)
        if not all(map(np.iscomplexobj, y)):
            raise TypeError("its output is always real")
        return _inner(self.dy, [part.imag / _TINY for part in y])


def _believable(
    tried: list[tuple[float, float]], said: float, largest: float, most: float
) -> tuple[float, float] | None:
    """Return the credible difference closest to backward's value, with its doubt, or None. At a kink, a value between
    the slopes of both sides is a subgradient."""
    here = max(largest, *(abs(value) for value, _ in tried))
    sure = [(value, doubt) for value, doubt in tried if doubt <= most * here]
    if not sure:
        return None
    values = [value for value, _ in sure]
    return float(np.clip(said, min(values), max(values))), max(doubt for _, doubt in sure)


def _of_each(shape: tuple[int, ...], name: str, slope: Callable[[Gradients], float]) -> Array:
    """Return the slope along each number of an array."""
    slopes = [slope({name: _unit(shape, index)}) for index in np.ndindex(shape)]
    return np.reshape(slopes, shape)


def _unit(shape: tuple[int, ...], index: tuple[int, ...]) -> Array:
    """Return zeros with a 1 at the index."""
    unit = np.zeros(shape)
    unit[index] = 1
    return unit


def _length(terms: list[Array]) -> float:
    return math.sqrt(sum((term**2).sum() for term in terms))


def _inner(dy: tuple[Array, ...], y: Any) -> float:
    return float(sum((each * part).sum() for each, part in zip(dy, y, strict=True)))
