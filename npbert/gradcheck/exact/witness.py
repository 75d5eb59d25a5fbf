"""witnesses: finds gradients that are wrong at the user's numbers, in as many decimals as needed."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.case import Case
from npbert.gradcheck.exact.constants import simplest
from npbert.gradcheck.exact.digits import Digits, slopes_of
from npbert.gradcheck.exact.rules import HALF_EPSILON
from npbert.gradcheck.exact.run import ExactRun, run_on_numbers
from npbert.gradcheck.inputs import Outputs
from npbert.gradcheck.report import EXACT, Comparison, Gradients

DIGITS = 50
_MOST_DIGITS = 800
_SPARE = 8  # digits lost by rounding


def decimals(
    case: Case, dy: Outputs, *, near: Any = None, digits: int = DIGITS, backward: bool = True
) -> tuple[ExactRun, Gradients]:
    """Run the layer in decimals. Returns the run, and the gradients of forward by name. near: the seed of a point near
    the given one, where nothing is 1 or 0 by chance; None: the point itself. backward: False runs only forward."""
    drawn = None if near is None else np.random.default_rng(near)
    with localcontext(Context(prec=digits)):
        run = run_on_numbers(Digits(drawn), case, dy, backward=backward)
        slopes = slopes_of(run.growth) if run.growth else {}
        of_slope = np.frompyfunc(lambda slope: slopes.get(slope, Decimal(0)), 1, 1)
        return run, {name: np.asarray(of_slope(tangents), object) for name, tangents in run.tangents.items()}


def right_gradients(case: Case, dy: Outputs) -> Gradients:
    """Return the gradients of forward by name, right to the last digit of a float."""
    _, right = decimals(case, dy, backward=False)
    return {name: each.astype(np.float64) for name, each in right.items()}


def witnesses(case: Case, dy: Outputs, seed: int) -> list[Comparison]:
    """Return the arrays with a wrong gradient at the point, or else near it (γ may be 1 by chance)."""
    return _wrong(case, dy, None) or _wrong(case, dy, [seed, 1])


def _wrong(case: Case, dy: Outputs, near: Any) -> list[Comparison]:
    """Return the arrays with a wrong gradient: off by more than rounded constants explain, and by as much with twice
    the digits."""
    before: Gradients = {}
    digits = DIGITS
    while digits <= _MOST_DIGITS:
        try:
            run, right = decimals(case, dy, near=near, digits=digits)
        except ArithmeticError:  # for example √ of a negative number
            return []
        with localcontext(Context(prec=digits, traps=[])):
            said = {name: _in_decimals(each.value) for name, each in run.gradients.items()}
            off = {name: _off(each, right[name], run.gradients[name].error, digits) for name, each in said.items()}
            if not any(array.any() for array in off.values()):
                return []
            if before and all(map(_is_stable, off.values(), before.values())):
                wrong = [name for name in off if off[name].any()]
                return [_comparison(name, off[name], said[name], right[name]) for name in wrong]
        before, digits = off, 2 * digits
    return []


def _in_decimals(array: Array) -> Array:
    return np.asarray(np.frompyfunc(Decimal, 1, 1)(array), object)


def _off(said: Array, right: Array, errors: Array, digits: int) -> Array:
    """Return the error of each number; 0 if rounded constants, or too few digits, may explain it."""
    difference, least = said - right, Decimal(10) ** (_SPARE - digits)
    bound = np.maximum(_in_decimals(HALF_EPSILON * errors), least * np.abs(right))
    return difference * (np.abs(difference) > bound)


def _is_stable(now: Array, before: Array) -> bool:
    return bool(np.all(np.abs(now - before) <= np.abs(now) * Decimal("1e-6")))


def _comparison(name: str, off: Array, said: Array, right: Array) -> Comparison:
    size = np.asarray(np.abs(off), object)
    at: Any = tuple(map(int, np.unravel_index(np.argmax(size), size.shape)))
    error = float(size[at] / max(abs(right[at]), abs(said[at])))
    count, values = int((off != 0).sum()), (float(said[at]), float(right[at]))
    return Comparison(EXACT, name, size.size, count, at, *values, error, _factor(said, right))


def _factor(said: Array, right: Array) -> str:
    """Return the common factor of `said` to `right`, if it is a short number, or the root of one."""
    ratios = [s / r for s, r in zip(said.ravel(), right.ravel(), strict=True) if r]
    if len(ratios) < said.size or max(ratios) - min(ratios) > abs(ratios[0]) * Decimal("1e-30"):
        return ""
    if not ratios[0]:
        return "0"
    sign = "−" if ratios[0] < 0 else ""
    for root, ratio in (("", abs(ratios[0])), ("√", ratios[0] * ratios[0])):
        short = simplest(Fraction(ratio), 1e-28)
        if short is not None:
            text = str(short)
            return f"{sign}{root}({text})" if root and "/" in text else f"{sign}{root}{text}"
    return f"{ratios[0]:.17g}"
