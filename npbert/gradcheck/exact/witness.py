"""witnesses: finds gradients that are wrong at the user's numbers, in as many decimals as needed."""

from dataclasses import replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.constants import simplest
from npbert.gradcheck.exact.digits import Digits, weights_in
from npbert.gradcheck.exact.rules import HALF_EPSILON
from npbert.gradcheck.exact.run import ExactRun, run_on_numbers
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.report import EXACT, Comparison, Gradients, compared

DIGITS = 50
_MORE_DIGITS = (DIGITS, 100, 200, 400, 800)
_SPARE = 8  # digits lost by rounding


def decimals(
    function: ScalarFunction, *, near: Any = None, digits: int = DIGITS, backward: bool = True
) -> tuple[ExactRun, Gradients]:
    """Run the layer in decimals. Returns the run, and the gradients of forward by name. near: the seed of a point near
    the given one, where nothing is 1 or 0 by chance; None: the point itself. backward: False runs only forward."""
    drawn = None if near is None else np.random.default_rng(near)
    with localcontext(Context(prec=digits)):
        world = Digits(drawn)
        run = run_on_numbers(world, function, backward=backward)
        weight = np.frompyfunc(weights_in(run.growth, world.slopes).__getitem__, 1, 1)
        return run, {name: np.asarray(weight(slopes), object) for name, slopes in run.tangents.items()}


def witnesses(function: ScalarFunction) -> list[Comparison]:
    """Return the arrays with a wrong gradient at the point, or else near it (γ may be 1 by chance)."""
    return _wrong(function, None) or _wrong(function, [function.seed, 1])


def _wrong(function: ScalarFunction, near: Any) -> list[Comparison]:
    """Return the arrays with a wrong gradient: off by more than rounded constants, or too few digits, explain, and by
    as much with twice the digits."""
    before: list[Comparison] = []
    for digits in _MORE_DIGITS:
        try:
            run, right = decimals(function, near=near, digits=digits)
        except ArithmeticError:  # for example √ of a negative number
            return []
        said, bounds, smallest = Gradients(), Gradients(), Decimal(10) ** (_SPARE - digits)
        with localcontext(Context(prec=digits, traps=[])):
            for name, each in run.gradients.items():
                said[name], rounding = _in_decimals(each.value), _in_decimals(HALF_EPSILON * each.error)
                bounds[name] = np.maximum(rounding, smallest * np.abs(right[name]))
            wrong = [array for array in compared(EXACT, said, right, 0, doubts=bounds) if array.count]
            if wrong == before:
                return [replace(array, factor=_factor(said[array.name], right[array.name])) for array in wrong]
        before = wrong
    return []


def _in_decimals(array: Array) -> Array:
    return np.asarray(np.frompyfunc(Decimal, 1, 1)(array), object)


def _factor(said: Array, right: Array) -> str:
    """Return the common factor of `said` to `right`, if it is a short number, or the root of one."""
    ratios = [s / r for s, r in zip(said.ravel(), right.ravel(), strict=True) if r]
    if len(ratios) < said.size or max(ratios) - min(ratios) > abs(ratios[0]) * Decimal("1e-30"):
        return ""
    size, sign = abs(ratios[0]), "−" if ratios[0] < 0 else ""
    number, square = (simplest(Fraction(each), 1e-28) for each in (size, size * size))
    if number is not None:
        return f"{sign}{number}"
    return f"{ratios[0]:.17g}" if square is None else f"{sign}√({square})"
