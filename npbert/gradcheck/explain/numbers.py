"""explain: a property of the numbers of a wrong gradient, if no edit of the code explains them."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.finding import Finding, d
from npbert.gradcheck.inputs import magnitude
from npbert.gradcheck.report import largest_at

_SAME = 1e-6  # the rest of a true statement, relative to the largest error


def explain(wrong: Array, right: Array, *, name: str) -> list[Finding]:
    """Return the most telling true statement about the error of a gradient; empty without one.

    wrong, right: the gradient and the right one, in float64. name: of the parameter or input, `x` for dx.
    """
    for kind, text in facts(np.asarray(wrong), np.asarray(right, np.float64), name):
        return [Finding(kind, d(name), cause=f"{d(name)} {text}")]
    return []


def facts(wrong: Array, right: Array, name: str) -> Iterator[tuple[str, str]]:
    """Yield what is true of a wrong array, such as the gradient of `name`: (kind, in words), the most telling first."""
    if wrong.shape != right.shape:
        cause = cause_of_shape(wrong, right)
        yield "shape", f"has shape {wrong.shape}, wanted {right.shape}{cause and ': ' + cause}"
    if wrong.dtype != right.dtype:
        yield "dtype", f"is {wrong.dtype}, wanted {right.dtype}"
    bad = ~np.isfinite(wrong)
    if bad.any():
        at = f", the first at {tuple(map(int, np.argwhere(bad)[0]))}" if wrong.ndim else ""
        yield "not finite", f"has {np.count_nonzero(bad)} of {bad.size} numbers that are not finite{at}"
    off, largest = np.abs(wrong - right), magnitude(right)
    if off.max(initial=0) <= 1e-14 * largest:
        return
    if magnitude(wrong) <= 1e-14 * largest:
        yield "zero", f"is 0 everywhere, but y depends on {name}: it may never be added or returned"
    if not largest:
        yield "should be zero", f"should be 0 everywhere, as y does not depend on {name}"
    factor = float((wrong * right).sum() / (right**2).sum())
    if factor and right.size > 1 and magnitude(wrong - factor * right) <= _SAME * off.max():
        yield "factor", _times(factor)
    yield from _places(wrong, right, off > _SAME * largest)


def _times(factor: float) -> str:
    """Return a factor in words."""
    if math.isclose(factor, -1, rel_tol=_SAME):
        return "has the wrong sign, everywhere"
    size = abs(factor)
    sign = " and has the wrong sign" if factor < 0 else ""
    return f"is {max(size, 1 / size):.4g} times too {'large' if size > 1 else 'small'}, everywhere{sign}"


def _places(wrong: Array, right: Array, is_off: Array) -> Iterator[tuple[str, str]]:
    """Return the rows or columns with the errors, if each is right in another place, or if most of their numbers are
    wrong; otherwise the places."""
    for axis, item in enumerate(("row", "column")[: wrong.ndim]):
        off = np.flatnonzero(np.moveaxis(is_off, axis, 0).reshape(is_off.shape[axis], -1).any(axis=1))
        where = f"{item if wrong.ndim > 1 else 'number'} {_first(off)} (counted from 0)"
        if not _absent(np.moveaxis(wrong, axis, 0), np.moveaxis(right, axis, 0)):
            yield "place", f"has right numbers in wrong places: {where}"
        if 0 < len(off) < is_off.shape[axis] and np.take(is_off, off, axis).mean() > 0.5:
            yield "place", f"is right but for {where}{_zero(np.take(wrong, off, axis))}"
    if is_off.any() and is_off.mean() <= 0.5:
        where = f"{is_off.sum()} of its {is_off.size} numbers, at {_first(np.argwhere(is_off).tolist())}"
        yield "place", f"is right but for {where} (counted from 0){_zero(wrong[is_off])}"


def _zero(there: Array) -> str:
    return "" if there.any() else ": it is 0 there"


def _first(places: Any) -> str:
    return ", ".join(map(str, places[:6])) + (", …" if len(places) > 6 else "")


def cause_of_shape(wrong: Array, right: Array) -> str:
    """Return in words the operation that makes the right gradient from one of another shape; "" if none is simple."""
    wrong = np.asarray(wrong)
    guesses = [("transposed, it is right", wrong.T, right)]
    guesses += [(f"summed over axis {axis}, it is right", wrong.sum(axis), right) for axis in range(wrong.ndim)]
    guesses += [(f"it is right, but summed over axis {axis}", right.sum(axis), wrong) for axis in range(right.ndim)]
    guesses.append(("its numbers are right, and only need a reshape", wrong.ravel(), right.ravel()))
    for text, one, other in guesses:
        if one.shape == other.shape and np.allclose(one, other, rtol=_SAME, atol=_SAME * magnitude(other)):
            return text
    return _missing_rows(wrong, right)


def _missing_rows(wrong: Array, right: Array) -> str:
    """Return the missing rows of the right array, if all others are right; otherwise ""."""
    if wrong.ndim != right.ndim or wrong.shape[1:] != right.shape[1:]:
        return ""
    rows = _absent(right, wrong)
    if len(wrong) == len(right) or len(wrong) + len(rows) != len(right):
        return ""
    zero = "" if right[rows].any() else ", where all is 0"
    return (
        f"it lacks row {_first(rows)} of {len(right)} (counted from 0){zero}. Start with np.zeros of the whole shape, "
        "and put your rows in their places"
    )


def _absent(rows: Array, among: Array) -> list[int]:
    """Return the numbers of the rows that do not occur among others."""
    apart = np.abs(rows[:, None] - among).reshape(len(rows), len(among), -1).max(axis=2, initial=0)
    return np.flatnonzero(apart.min(axis=1, initial=np.inf) > _SAME * magnitude(among)).tolist()


def example(wrong: Array, right: Array) -> str:
    """Return in words the number that differs most."""
    off = np.abs(np.subtract(wrong, right, dtype=float))
    place, number = largest_at(off), np.count_nonzero(off > _SAME * magnitude(right))
    where = f" at {list(place)}" if place else ""
    count = f"; {number} of its {off.size} numbers are wrong" if number and place else ""
    digits = 6 if f"{wrong[place]:.6g}" != f"{right[place]:.6g}" else 12
    return f"is wrong: {wrong[place]:.{digits}g}{where}, wanted {right[place]:.{digits}g}{count}"
