"""Estimates of the derivatives of S = Σ dy · y on floats: finite differences, and the complex step.

In this order, each step only where the one before is not enough:

1. Along a direction, differences are taken at two steps, then at all steps; the steadiest counts (`slope`).
2. If that of a single number contradicts backward, differences are also taken on each side: a kink may be near
   (`_beside`).
3. The complex step counts only if it agrees with differences (`estimated`).

Every difference has a bound on its error. Errors of backward count beyond it.
"""

import contextlib
import functools
import math
import warnings
from collections.abc import Mapping
from functools import partial

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.digits import decimals
from npbert.gradcheck.function import ScalarFunction, spread
from npbert.gradcheck.inputs import Function, magnitude, mapped
from npbert.gradcheck.report import (
    COMPLEX_STEP,
    FINITE_DIFFERENCES,
    TOLERANCES,
    Comparison,
    Gradients,
    Report,
    compared,
)

CENTRAL = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60, -1: -45 / 60, -2: 9 / 60, -3: -1 / 60}  # right to O(h⁶)
_RIGHT = {0: -11 / 6, 1: 3.0, 2: -1.5, 3: 1 / 3}  # right to O(h³), on one side of a kink
_LEFT = {-multiple: -weight for multiple, weight in _RIGHT.items()}
_FLOAT64, _FLOAT32 = 2.0**-52, 2.0**-23
_STEPS = {_FLOAT64: 10.0 ** -np.arange(2, 14), _FLOAT32: 10.0 ** -np.arange(2, 6)}
_COARSE = 2  # the steps tried first
_WITHIN, _BEYOND = 1e-10, 1e-5  # steps relative to x: within the rounding of float32, and beyond it
_SURE = {_FLOAT64: 1e-5, _FLOAT32: 1e-2}  # the relative error bound that makes a slope credible, by epsilon
_SLACK = 4.0
_TINY = 1e-30  # the complex step
_EXACT, _ESTIMATED = 1e-10, 1e-6
_IN_FLOAT32 = 2e-3  # where casts leave three digits of a difference

Estimate = tuple[float, float]
"""A slope, and its error bound."""


def exact_gradients(function: ScalarFunction) -> Gradients:
    """Return ∂S/∂value of each number, right to the last digit of a float; {} if exact arithmetic has no rule."""
    try:
        _, right = decimals(function, backward=False)
    except Exception:  # the code cannot run on exact numbers
        return {}
    return mapped(np.float64, right)


@functools.lru_cache(1)
def _epsilon(function: ScalarFunction) -> float:
    """Return the epsilon of the code's floats: that of float32 if it casts to them, which shows as steps where float64
    is smooth. (Exact numbers allow no casts.)"""

    rng = np.random.default_rng(0)  # each number moves by another factor, as a quotient ignores a common one
    by = function.made(lambda array: array * rng.uniform(0.5, 1, array.shape))

    def values(t: float) -> list[Array]:
        with function.moved(by, t):
            found = [*function.outputs()]
            with contextlib.suppress(Exception):  # an error of the author's code
                found += function.gradients().values()
            return found

    if function.is_form:
        for here, near, far in zip(values(0), values(_WITHIN), values(_BEYOND), strict=False):
            changes = here != far
            if changes.any() and np.mean((here == near)[changes]) > 1 / 2 and not exact_gradients(function):
                return _FLOAT32
    return _FLOAT64


def right_and_accuracy(function: ScalarFunction) -> tuple[Gradients, float]:
    """Return the right gradients, exact or from differences, and the relative tolerance for gradients in floats."""
    exact = exact_gradients(function)
    if exact:
        return exact, _EXACT
    numeric, _ = _of_each(function, partial(slope, function))
    return numeric, _ESTIMATED if _epsilon(function) == _FLOAT64 else _IN_FLOAT32


def estimated(function: ScalarFunction, analytic: Gradients) -> list[Comparison]:
    """Compare each derivative with estimates."""
    return _compared(function, analytic, partial(_of_each, function), partial(_beside, function, analytic))


def compared_along(function: ScalarFunction, analytic: Gradients, count: int) -> Report:
    """Compare the gradients with estimates along random directions, in which all numbers move at once, each array in
    proportion to its spread."""
    size = math.sqrt(function.size)
    steps = [mapped(lambda part: part / size, function.random_step(number)) for number in range(count)]
    terms = [np.concatenate([(gradient * step[name]).ravel() for name, gradient in analytic.items()]) for step in steps]
    expected = {"direction": np.sum(terms, axis=1)}
    # rounding is as large as a sum of the terms with random signs, even if they cancel
    scales = {"direction": np.linalg.norm(terms, axis=1)}

    def of_all(estimate: Function) -> tuple[Gradients, Gradients]:
        values, doubts = np.transpose([estimate(step) for step in steps])
        return {"direction": values}, {"direction": doubts}

    return Report({"direction": count}, _compared(function, expected, of_all, partial(slope, function), scales))


def _compared(
    function: ScalarFunction, analytic: Gradients, of_all: Function, along: Function, scales: Gradients | None = None
) -> list[Comparison]:
    """Compare derivatives with finite differences, and with the complex step if that agrees with them (complex numbers
    may change a mask or a maximum).

    of_all(estimate): the estimate of each derivative, and error bounds. along(direction): a finite difference."""
    numeric, doubts = of_all(along)
    if _epsilon(function) == _FLOAT32:
        return compared(f"{FINITE_DIFFERENCES} of float32", analytic, numeric, _IN_FLOAT32, scales, doubts)
    found = compared(FINITE_DIFFERENCES, analytic, numeric, TOLERANCES[FINITE_DIFFERENCES], scales, doubts)
    try:
        by_complex_step, _ = of_all(partial(_complex_step, function))
    except Exception:  # any, as code may test its numbers
        return found
    arrays = compared(FINITE_DIFFERENCES, by_complex_step, numeric, _ESTIMATED, scales, doubts)
    if not any(each.count for each in arrays):
        found += compared(COMPLEX_STEP, analytic, by_complex_step, TOLERANCES[COMPLEX_STEP], scales)
    return found


def _of_each(function: ScalarFunction, estimate: Function) -> tuple[Gradients, Gradients]:
    """Return an estimate of ∂S/∂value for each number, and error bounds. estimate: of a direction."""
    numeric, doubts = {}, {}
    for name, array in function.variables.items():
        places, size = np.arange(array.size).reshape(array.shape), spread(array)
        found = [estimate({name: size * (places == place)}) for place in places.flat]
        numeric[name], doubts[name] = np.transpose(found).reshape(2, *array.shape) / size
    return numeric, doubts


def _beside(function: ScalarFunction, analytic: Gradients, direction: Gradients) -> Estimate:
    """Return the slope along the direction of a number, and its error bound, as `slope` does.

    If it contradicts backward's, as at a kink, it is the number closest to that between the credible slopes of both
    sides and the center; without a credible one the steadiest, with a wide bound."""
    ((name, by),) = direction.items()
    said, scale = float((analytic[name] * by).sum()), magnitude(analytic[name]) * magnitude(by)
    sure = _SURE[_epsilon(function)]
    value, doubt = slope(function, direction)
    if doubt <= sure * scale and abs(value - said) - doubt <= TOLERANCES[FINITE_DIFFERENCES] * scale:
        return value, doubt
    values, doubts = np.array([slope(function, direction, stencil) for stencil in (CENTRAL, _RIGHT, _LEFT)]).T
    credible = doubts <= sure * max(scale, magnitude(values))
    if credible.any():
        among = values[credible]
        return np.clip(said, among.min(), among.max()), doubts[credible].max()
    best = np.argmin(doubts)
    return values[best], _SLACK * doubts[best]


def slope(function: ScalarFunction, direction: Gradients, stencil: Mapping[int, float] = CENTRAL) -> Estimate:
    """Return dS/dt at value + t · direction, by the step at which it changes least, and its error bound."""
    rounding, fine = _rounding(function, direction), _STEPS[_epsilon(function)]
    for steps in (fine[:_COARSE], fine):
        terms = [[function.terms(direction, multiple * h) for multiple in stencil] for h in steps]
        differences = np.tensordot(terms, list(stencil.values()), (1, 0))  # before their sum, as some terms are large
        value, doubt = _steadiest(differences.sum(axis=1) / steps, rounding / steps)
        if doubt <= _SURE[_epsilon(function)] * abs(value):
            break
    return value, doubt


def _rounding(function: ScalarFunction, direction: Gradients) -> float:
    """Return the rounding error of S, from y and from the variables, measured as its change for another rounding."""
    signs, epsilon, variables = np.random.default_rng(0), _epsilon(function), function.variables
    ulps = {name: variables[name] * signs.choice([-1.0, 1.0], by.shape) * (by != 0) for name, by in direction.items()}
    terms, others = function.terms({}, 0.0), function.terms(ulps, epsilon)
    return _SLACK * float((epsilon * np.abs(terms) + np.abs(others - terms)).sum())


def _steadiest(slopes: Array, rounding: Array) -> Estimate:
    """Return the steadiest of slopes by decreasing steps, and its error bound: its change to the next slope, or the
    largest contradiction of a later one. rounding: of each slope."""
    apart = np.abs(slopes[:, None] - slopes)
    doubts = np.triu(apart - rounding).max(axis=1, initial=0)[:-1] + apart.diagonal(1) + rounding[1:]
    best = np.argmin(doubts)
    return float(slopes[best]), float(doubts[best])


def _complex_step(function: ScalarFunction, direction: Gradients) -> Estimate:
    """Return dS/dt, which is exact; 0 if y is always real. Raises: any error if forward cannot run on complex
    numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        terms = function.terms(direction, 1j * _TINY)
    return float((terms.imag / _TINY).sum()), 0.0
