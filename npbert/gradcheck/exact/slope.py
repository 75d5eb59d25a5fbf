"""slope: how fast Σ dy · y changes along a direction, by differences of forward on floats."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.case import Case
from npbert.gradcheck.inputs import Outputs
from npbert.gradcheck.report import Gradients

_SCALES = 10.0 ** -np.arange(2, 14)  # of the step
_COARSE = 2  # the scales tried first
_SLACK = 4.0
CENTRAL = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60, -1: -45 / 60, -2: 9 / 60, -3: -1 / 60}  # right to O(h⁶)
RIGHT = {0: -11 / 6, 1: 3.0, 2: -1.5, 3: 1 / 3}  # right to O(h³), on one side of a kink
LEFT = {-multiple: -weight for multiple, weight in RIGHT.items()}


def sure(epsilon: float) -> float:
    """Return the relative error bound that makes a slope of floats with this epsilon credible."""
    return 1e-5 if epsilon == 2.0**-52 else 1e-2


def spread(array: Array) -> float:
    """Return the spread of an array's numbers, or their size if all are equal: the scale of a step."""
    return float(np.ptp(array) or np.abs(array).max() or 1.0) if array.size else 1.0


def random_step(case: Case, seed: Any) -> Gradients:
    """Return a random step for each variable, relative to its spread."""
    drawn = np.random.default_rng(seed)
    return case.made(lambda array: spread(array) * np.asarray(drawn.standard_normal(array.shape)))


def moved(case: Case, step: Gradients, t: complex) -> Gradients:
    """Return the variables with t · step added, for the arrays named in `step`; all complex for a complex t."""
    values = case.made(lambda array: np.array(array, dtype=np.result_type(array, t)))  # with the same memory order
    for name, by in step.items():
        values[name][...] += t * by
    return values


def outputs_at(case: Case, step: Gradients, t: complex) -> Outputs:
    """Return y with t · step added to the variables."""
    with case.holding(moved(case, step, t)) as there:
        return there.outputs()


def slope(
    case: Case,
    dy: Outputs,
    step: Gradients,
    *,
    epsilon: float = 2.0**-52,
    stencil: Mapping[int, float] = CENTRAL,
) -> tuple[float, float, float]:
    """Return d/dt Σ dy · y at value + t · step, its error bound, and the scale: that at which it changes least.

    epsilon: of the floats.
    """
    rounding = _rounding(case, dy, step, epsilon) / _SCALES
    values = [difference(case, dy, step, scale, stencil) for scale in _SCALES[:_COARSE]]
    value, doubt, best = _steadiest(np.array(values), rounding[:_COARSE])
    if doubt > sure(epsilon) * abs(value):
        values += [difference(case, dy, step, scale, stencil) for scale in _SCALES[_COARSE:]]
        value, doubt, best = _steadiest(np.array(values), rounding)
    return value, doubt, _SCALES[best]


def difference(case: Case, dy: Outputs, step: Gradients, scale: float, stencil: Mapping[int, float] = CENTRAL) -> float:
    """Return the slope by differences of the outputs before their sum, as some are large."""
    change: Any = [np.zeros(np.shape(each)) for each in dy]
    for multiple, weight in stencil.items():
        for total, y in zip(change, outputs_at(case, step, multiple * scale), strict=True):
            total += weight * y
    return inner(dy, change) / scale


def _rounding(case: Case, dy: Outputs, step: Gradients, epsilon: float) -> float:
    """Return the rounding error of Σ dy · y, from y and from the variables, measured as its change for another
    rounding."""
    signs, variables = np.random.default_rng(0), case.variables
    ulps = {name: variables[name] * signs.choice([-1.0, 1.0], by.shape) * (by != 0) for name, by in step.items()}
    both = zip(dy, case.outputs(), outputs_at(case, ulps, epsilon), strict=True)
    return _SLACK * float(sum((np.abs(dy) * (epsilon * np.abs(y) + np.abs(other - y))).sum() for dy, y, other in both))


def _steadiest(slopes: Array, rounding: Array) -> tuple[float, float, int]:
    """Return the steadiest of slopes by decreasing steps; its error bound: its change to the next slope, or the largest
    contradiction of a later one; and its index. rounding: of each slope."""
    apart = np.abs(slopes[:, None] - slopes)
    doubts = np.triu(apart - rounding).max(axis=1, initial=0)[:-1] + apart.diagonal(1) + rounding[1:]
    best = int(np.argmin(doubts))
    return float(slopes[best]), float(doubts[best]), best


def inner(dy: Outputs, y: Any) -> float:
    """Return Σ dy · y."""
    return float(sum((each * part).sum() for each, part in zip(dy, y, strict=True)))
