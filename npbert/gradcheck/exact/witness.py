"""witnesses: finds gradients that are wrong at the user's numbers, in as many decimals as needed."""

from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.case import Case
from npbert.gradcheck.exact.constants import simplest
from npbert.gradcheck.exact.digits import DIGITS, gradients_with_digits
from npbert.gradcheck.exact.rules import HALF_EPSILON
from npbert.gradcheck.report import EXACT, Comparison

_MOST_DIGITS = 800
_SPARE = 8  # digits lost by rounding


def witnesses(part: Case, dy: tuple[Any, ...], seed: int) -> list[Comparison]:
    """Return the arrays with a wrong gradient at the point, or else near it (γ may be 1 by chance).

    A wrong gradient is off by more than rounded constants explain, and by as much with twice the digits.
    """
    for near in (None, [seed, 1]):
        try:
            found = _at(part, dy, near)
        except ArithmeticError:  # for example √ of a negative number
            continue
        if found:
            return found
    return []


def _at(part: Case, dy: tuple[Any, ...], near: list[int] | None) -> list[Comparison]:
    before: dict[str, Array] = {}
    digits = DIGITS
    while digits <= _MOST_DIGITS:
        drawn = None if near is None else np.random.default_rng(near)
        run, right = gradients_with_digits(part, dy, near=drawn, digits=digits)
        with localcontext(Context(prec=digits, traps=[])):
            off = {name: _wrong(run.gradients[name], right[name], run.seen[name].error, digits) for name in right}
            if not any(array.any() for array in off.values()):
                return []
            if before and all(map(_is_stable, off.values(), before.values())):
                return list(_compared(run.gradients, right, off))
        before, digits = off, 2 * digits
    return []


def _wrong(said: Array, right: Array, errors: Array, digits: int) -> Array:
    """Return the error of each gradient; 0 if rounded constants, or too few digits, may explain it."""
    bounds = HALF_EPSILON * errors
    least = Decimal(10) ** (_SPARE - digits)

    def wrong(said: Decimal, right: Decimal, bound: float) -> Decimal:
        difference = said - right
        return difference if abs(difference) > max(Decimal(bound), least * abs(right)) else Decimal(0)

    return np.asarray(np.frompyfunc(wrong, 3, 1)(said, right, bounds), object)


def _is_stable(now: Array, before: Array) -> bool:
    return bool(np.all(np.abs(now - before) <= np.abs(now) * Decimal("1e-6")))


def _compared(said: dict[str, Array], right: dict[str, Array], off: dict[str, Array]) -> Iterator[Comparison]:
    for name, wrong in off.items():
        size = np.asarray(np.abs(wrong), object)  # np.abs of an array without axes is a Decimal
        if size.any():
            at: Any = tuple(map(int, np.unravel_index(np.argmax(size), size.shape)))
            error = float(size[at] / max(abs(right[name][at]), abs(said[name][at])))
            values = float(said[name][at]), float(right[name][at])
            factor = _factor(said[name], right[name])
            yield Comparison(EXACT, name, size.size, int((wrong != 0).sum()), at, *values, error, factor)


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
