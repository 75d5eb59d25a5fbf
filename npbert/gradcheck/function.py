"""A layer as one scalar function of all its numbers, with its exact or estimated derivatives."""

import contextlib
import functools
import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape, named_parts
from npbert.gradcheck.exact.case import Case
from npbert.gradcheck.exact.slope import (
    CENTRAL,
    LEFT,
    RIGHT,
    difference,
    inner,
    outputs_at,
    random_step,
    slope,
    spread,
    sure,
)
from npbert.gradcheck.exact.witness import right_gradients
from npbert.gradcheck.forms import Form
from npbert.gradcheck.inputs import Rng, as_tuple, copied
from npbert.gradcheck.report import (
    COMPLEX_STEP,
    FINITE_DIFFERENCES,
    IN_FLOAT32,
    ROUGHLY,
    TOLERANCES,
    Comparison,
    GradientError,
    Gradients,
    Report,
    compared,
)
from npbert.gradcheck.restoring import restored

_STREAM = 20220  # keeps dy and directions apart from the caller's draws with the same seed, which would hide mistakes
_EXACT, _ESTIMATED = 1e-10, 1e-6
_TINY = 1e-30  # the complex step
_EPSILONS = {IN_FLOAT32: 2.0**-23, FINITE_DIFFERENCES: 2.0**-52}
_SLACK = 4.0
_MOST_LOOKED_AT = 200  # the most wrong numbers of an array to check for a kink
_WITHIN, _BEYOND = 1e-10, 1e-5  # steps relative to x: within the rounding of float32, and beyond it


class ScalarFunction(Case):
    """S = Σ dy · y as a function of the parameters and the float inputs of a layer."""

    def __init__(self, layer: Any, inputs: Sequence[Any], rng: Rng, seed: int, things: Any = None) -> None:
        super().__init__(layer, map(copied, inputs), rng, things=things)
        self._check_variables()
        drawn = np.random.default_rng([seed, _STREAM])
        y = self.outputs()
        if not all(np.isfinite(part).all() for part in y):
            raise GradientError("forward returns a number that is not finite, which has no derivative")
        self.dy = tuple(drawn.standard_normal(np.shape(part)) for part in y)
        self.inputs = list(map(copied, inputs))  # forward may have written into them

    def _check_variables(self) -> None:
        if not self.size:
            raise ValueError("nothing to check: the layer has no parameters, and no input is a float array")
        for name, array in self.variables.items():
            if array.dtype != np.float64:
                raise TypeError(
                    f"{name} is {array.dtype}, wanted float64; use Init(rng, dtype=np.float64) and float64 inputs"
                )
            if not np.isfinite(array).all():
                raise ValueError(f"{name} has a number that is not finite, which has no derivative")
        for (name, one), (other_name, other) in itertools.combinations(self.parameters.items(), 2):
            if np.may_share_memory(one.value, other.value):
                raise GradientError(
                    f"{name} and {other_name} share memory; tie weights with one Parameter in both places"
                )

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[Gradients]:
        """Within it, values are copies, and gradients start at 0; afterwards the layer is restored. Gives the values by
        name, safe from changes by backward."""
        values = {name: parameter.value for name, parameter in self.parameters.items()}
        with restored(dict(named_parts(self.layer)).values()), self.holding(self.made(np.copy)):
            yield values

    def zero_grad(self) -> None:
        """Set every gradient to 0."""
        for parameter in self.parameters.values():
            parameter.zero_grad()

    def scales(self) -> dict[str, float]:
        """Return, for each array, the derivative that changes y by its own size."""
        size = sum(float(np.abs(dy * y).sum()) for dy, y in zip(self.dy, self.outputs(), strict=True))
        return {name: size / spread(array) for name, array in self.variables.items()}

    def exact(self) -> Gradients:
        """Return ∂S/∂value for each number, right to the last digit of a float; {} if exact arithmetic has no rule."""
        try:
            return right_gradients(self, self.dy)
        except Exception:  # the code cannot run on exact numbers
            return {}

    def right(self) -> tuple[Gradients, float]:
        """The right gradients, exact or from differences, and the relative tolerance for gradients in floats."""
        if exact := self.exact():
            return exact, _EXACT
        return self._of_each(FINITE_DIFFERENCES)[0], ROUGHLY.get(self.differences, _ESTIMATED)

    @functools.cached_property
    def differences(self) -> str:
        """The method of finite differences: for float32 if the code casts to it, which shows as steps where float64 is
        smooth."""

        def values(t: float) -> list[Array]:
            with self.holding(self.made(lambda x: np.asarray(x * (1 + t)))) as there:
                y = there.forward(tape := Tape())
                return [*as_tuple(y), *there.backward(y, self.dy, tape).values()]

        if isinstance(self.layer, Form):
            with contextlib.suppress(Exception):  # an error of the author's code
                for here, near, far in zip(values(0), values(_WITHIN), values(_BEYOND), strict=True):
                    changes = here != far
                    has_steps = changes.any() and np.mean((here == near)[changes]) > 1 / 2
                    if has_steps and not self.exact():  # exact numbers allow no casts
                        return IN_FLOAT32
        return FINITE_DIFFERENCES

    def estimated(
        self, analytic: Gradients, tolerances: dict[str, float]
    ) -> Iterator[tuple[str, Gradients, Gradients]]:
        """Yield each method with its derivatives and error bounds: finite differences, and the complex step if it
        agrees with them (complex numbers may change a mask or a maximum)."""
        numeric, doubts = self._of_each(FINITE_DIFFERENCES)
        for name, said in analytic.items():
            self._look_again(name, said, numeric[name], doubts[name])
        if self.differences == IN_FLOAT32:
            yield IN_FLOAT32, numeric, {}
            return
        yield FINITE_DIFFERENCES, numeric, doubts
        if COMPLEX_STEP in tolerances:
            with contextlib.suppress(TypeError):
                by_complex_step, _ = self._of_each(COMPLEX_STEP)
                arrays = compared(FINITE_DIFFERENCES, by_complex_step, numeric, _ESTIMATED, doubts=doubts)
                if not any(each.count for each in arrays):
                    yield COMPLEX_STEP, by_complex_step, {}

    def _of_each(self, method: str) -> tuple[Gradients, Gradients]:
        """Return an estimate of ∂S/∂value for each number, and error bounds: differences at the best scale for each
        array."""
        numeric, doubts = {}, {}
        for name, array in self.variables.items():
            doubt, size, estimate = 0.0, spread(array), self._complex_step
            if method == FINITE_DIFFERENCES:
                drawn = np.random.default_rng(0).standard_normal(array.shape)
                _, doubt, scale = self._slope({name: np.asarray(size * drawn)})
                estimate = functools.partial(difference, self, self.dy, scale=scale)
            found = [estimate(step=self._step(name, index)) / size for index in np.ndindex(array.shape)]
            numeric[name], doubts[name] = np.reshape(found, array.shape), np.full(array.shape, doubt / size)
        return numeric, doubts

    def _step(self, name: str, index: tuple[int, ...]) -> Gradients:
        """Return a step of one number."""
        step = np.zeros(self.variables[name].shape)
        step[index] = spread(self.variables[name])
        return {name: step}

    def _look_again(self, name: str, said: Array, numeric: Array, doubts: Array) -> None:
        """Replace each difference that disagrees with backward by the closest credible one: a kink may be near, so
        one-sided derivatives count, too."""
        largest = max(float(np.abs(each).max(initial=0)) for each in (numeric, said)) or 1.0
        most = sure(self._epsilon) * largest
        doubts[doubts > most] = 0.0
        off = np.abs(numeric - said) - doubts > TOLERANCES[FINITE_DIFFERENCES] * largest
        exact = self.exact() if off.any() else {}
        size = spread(self.variables[name])
        for index in map(tuple, np.argwhere(off)[:_MOST_LOOKED_AT]):
            step = self._step(name, index)
            tried = np.array([self._slope(step, stencil)[:2] for stencil in (CENTRAL, RIGHT, LEFT)]) / size
            credible = tried[tried[:, 1] <= max(most, sure(self._epsilon) * np.abs(tried[:, 0]).max())]
            if len(credible):  # at a kink, a value between the slopes of both sides is a subgradient
                slopes = credible[:, 0]
                numeric[index], doubts[index] = np.clip(said[index], slopes.min(), slopes.max()), credible[:, 1].max()
            elif exact:  # no step is small enough
                numeric[index], doubts[index] = exact[name][index], 0.0
            else:  # floats show no more than this
                numeric[index], doubts[index] = tried[np.argmin(tried[:, 1])] * (1, _SLACK)

    def compared_along(
        self,
        analytic: Gradients,
        tolerances: dict[str, float],
        count: int,
        seed: int,
        *,
        must_flow: bool = True,
        rounding: Gradients | None = None,
    ) -> Report:
        """Compare the gradients with estimates along random directions, in which all numbers move at once, each array
        in proportion to its spread.

        must_flow: False: skip the complex step if forward cannot run on complex numbers. rounding: of each gradient in
        floats."""
        drawn = [random_step(self, [seed, _STREAM, number]) for number in range(count)]
        steps = [{name: part / math.sqrt(self.size) for name, part in each.items()} for each in drawn]
        terms = [[gradient * step[name] for name, gradient in analytic.items()] for step in steps]
        expected = np.array([sum(term.sum() for term in each) for each in terms])
        # rounding is as large as a sum of the terms with random signs, even if they cancel
        scales = np.array(list(map(_length, terms)))
        found = list[Comparison]()
        for method, tolerance in tolerances.items():
            with contextlib.nullcontext() if must_flow else contextlib.suppress(TypeError):
                values, doubts = np.transpose([self._estimate(method, step) for step in steps])
                if rounding:
                    doubts += [_length([rounding[name] * part for name, part in step.items()]) for step in steps]
                arrays = (expected, values, scales, doubts)
                along, estimates, sizes, bounds = ({"direction": array} for array in arrays)
                found += compared(method, along, estimates, tolerance, sizes, bounds)
        return Report({"direction": count}, found)

    @property
    def _epsilon(self) -> float:
        return _EPSILONS[self.differences]

    def _estimate(self, method: str, step: Gradients) -> tuple[float, float]:
        """Return an estimate of dS/dt at value + t · step, with its error bound."""
        return (self._complex_step(step), 0.0) if method == COMPLEX_STEP else self._slope(step)[:2]

    def _slope(self, step: Gradients, stencil: Mapping[int, float] = CENTRAL) -> tuple[float, float, float]:
        return slope(self, self.dy, step, epsilon=self._epsilon, stencil=stencil)

    def _complex_step(self, step: Gradients) -> float:
        """Return dS/dt. Raises: TypeError if forward cannot run on complex numbers."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                y = outputs_at(self, step, 1j * _TINY)
        except Exception as error:
            if not isinstance(error, TypeError | np.exceptions.ComplexWarning) and not isinstance(self.layer, Form):
                raise
            wish = "write it without abs, var and the like, or leave the complex step out of `tolerances`"
            raise TypeError(f"complex numbers do not pass through forward ({error}); {wish}") from error
        if not all(map(np.iscomplexobj, y)):
            raise TypeError("its output is always real")
        return inner(self.dy, [part.imag / _TINY for part in y])


def _length(terms: list[Array]) -> float:
    return math.sqrt(sum((term**2).sum() for term in terms))
