"""witnesses: finds gradients that are wrong at the user's numbers, in as many decimals as needed."""

from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.case import Case
from npbert.gradcheck.exact.constants import simplest
from npbert.gradcheck.exact.digits import Digits, slopes_of
from npbert.gradcheck.exact.rules import HALF_EPSILON
from npbert.gradcheck.exact.run import run_on_numbers
from npbert.gradcheck.inputs import Outputs
from npbert.gradcheck.report import EXACT, Comparison, Gradients

DIGITS = 50
_MOST_DIGITS = 800
_SPARE = 8  # digits lost by rounding


class Decimals(NamedTuple):
    """y, and the gradients of backward, and the right ones by forward, by name: arrays of Decimals.

    errors: bounds on rounding in backward, in halves of an epsilon.
    """

    digits: int
    y: list[Array]
    said: Gradients
    right: Gradients
    errors: Gradients

    def off(self) -> Gradients:
        """Return the error of each gradient; 0 if rounded constants, or too few digits, may explain it."""
        least = Decimal(10) ** (_SPARE - self.digits)

        def wrong(said: Decimal, right: Decimal, error: float) -> Decimal:
            difference = said - right
            bound = max(Decimal(HALF_EPSILON * error), least * abs(right))
            return difference if abs(difference) > bound else Decimal(0)

        each = np.frompyfunc(wrong, 3, 1)
        return {
            name: np.asarray(each(said, self.right[name], self.errors[name]), object)
            for name, said in self.said.items()
        }


def decimals(part: Case, dy: Outputs, *, near: Any = None, digits: int = DIGITS, backward: bool = True) -> Decimals:
    """Run the layer in decimals. near: the seed of a point near the given one, where nothing is 1 or 0 by chance; None:
    the point itself. backward: False runs only forward."""
    drawn = None if near is None else np.random.default_rng(near)
    with localcontext(Context(prec=digits)):
        run = run_on_numbers(Digits(drawn), part, dy, backward=backward)
        slopes = slopes_of(run.growth) if run.growth else {}
        of_slope = np.frompyfunc(lambda slope: slopes.get(slope, Decimal(0)), 1, 1)
        right = {name: np.asarray(of_slope(tangents), object) for name, tangents in run.tangents.items()}
        in_decimals = np.frompyfunc(Decimal, 1, 1)
        said = {name: np.asarray(in_decimals(said), object) for name, said in run.gradients.items()}
        return Decimals(digits, run.y, said, right, {name: seen.error for name, seen in run.seen.items()})


def decimals_at_point(part: Case, dy: Outputs) -> Decimals:
    """Return the gradients at the point itself; those of forward alone if backward is not defined there."""
    try:
        return decimals(part, dy)
    except ArithmeticError:
        return decimals(part, dy, backward=False)


def right_gradients(part: Case, dy: Outputs) -> Gradients:
    """Return the gradients of forward by name, right to the last digit of a float."""
    return in_floats(decimals(part, dy, backward=False).right)


def in_floats(gradients: Gradients, factor: float = 1.0) -> Gradients:
    """Return Decimals, divided by the factor, as floats."""
    return {name: each.astype(np.float64) / factor for name, each in gradients.items()}


def witnesses(part: Case, dy: Outputs, seed: int, at_point: Decimals, *, is_clear: bool) -> list[Comparison]:
    """Return the arrays with a wrong gradient at the point, or else near it (γ may be 1 by chance).

    A wrong gradient is off by more than rounded constants explain; and by as much with twice the digits, unless
    `is_clear`: floats show it, too.
    """
    if found := _confirmed(part, dy, None, at_point, is_clear=is_clear):
        return found
    near = [seed, 1]
    try:
        return _confirmed(part, dy, near, decimals(part, dy, near=near), is_clear=False)
    except ArithmeticError:  # for example √ of a negative number
        return []


def _confirmed(part: Case, dy: Outputs, near: Any, found: Decimals, *, is_clear: bool) -> list[Comparison]:
    before: Gradients = {}
    while found.digits <= _MOST_DIGITS:
        with localcontext(Context(prec=found.digits, traps=[])):
            off = found.off()
            if not any(array.any() for array in off.values()):
                break
            if is_clear or (before and all(map(_is_stable, off.values(), before.values()))):
                return list(_compared(found, off))
        before, found = off, decimals(part, dy, near=near, digits=2 * found.digits)
    return []


def _is_stable(now: Array, before: Array) -> bool:
    return bool(np.all(np.abs(now - before) <= np.abs(now) * Decimal("1e-6")))


def _compared(found: Decimals, off: Gradients) -> Iterator[Comparison]:
    for name, wrong in off.items():
        size, said, right = np.asarray(np.abs(wrong), object), found.said[name], found.right[name]
        if size.any():
            at: Any = tuple(map(int, np.unravel_index(np.argmax(size), size.shape)))
            error = float(size[at] / max(abs(right[at]), abs(said[at])))
            count, values = int((wrong != 0).sum()), (float(said[at]), float(right[at]))
            yield Comparison(EXACT, name, size.size, count, at, *values, error, _factor(said, right))


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
