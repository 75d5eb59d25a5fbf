"""explain: a property of the numbers of a wrong gradient, if no edit of the code explains them."""

import itertools
import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.finding import Finding, d

_SAME = 1e-6  # the rest of a true statement, relative to the largest error
NOTHING: Mapping[str, Any] = MappingProxyType({})


def explain(
    wrong: Array,
    right: Array,
    *,
    name: str,
    sizes: Mapping[str, int] = NOTHING,
    numbers: Mapping[str, float] = NOTHING,
    known: Mapping[str, Array] = NOTHING,
) -> list[Finding]:
    """Return the most telling true statement about the error of a gradient; empty without one.

    wrong, right: the gradient and the right one, in float64. name: of the parameter or input, `x` for dx. sizes: {"the
    number of columns of x": 7}, and numbers: {"p": 0.3}, possible parts of a factor. known: arrays that may be returned
    instead, by name.
    """
    statements = _statements(np.asarray(wrong), np.asarray(right, np.float64), name, sizes, numbers, known)
    return [Finding(kind, d(name), cause=f"{d(name)} {text}") for kind, text in itertools.islice(statements, 1)]


def _statements(
    wrong: Array,
    right: Array,
    name: str,
    sizes: Mapping[str, int],
    numbers: Mapping[str, float],
    known: Mapping[str, Array],
) -> Iterator[tuple[str, str]]:
    """Yield (kind, in words), the most telling first."""
    if wrong.shape != right.shape:
        cause = cause_of_shape(wrong, right)
        yield "shape", f"has shape {wrong.shape}, and {name} has shape {right.shape}{cause and ': ' + cause}"
        return
    bad = ~np.isfinite(wrong)
    if wrong.dtype != right.dtype:
        yield "dtype", f"is {wrong.dtype}, and {name} is {right.dtype}"
    elif bad.any():
        at = f", the first at {tuple(map(int, np.argwhere(bad)[0]))}" if wrong.ndim else ""
        yield "not finite", f"has {np.count_nonzero(bad)} of {bad.size} numbers that are not finite{at}"
    elif np.abs(wrong - right).max(initial=0) <= 1e-14 * np.abs(right).max(initial=0):
        return
    elif np.abs(wrong).max() <= 1e-14 * np.abs(right).max():
        yield "zero", f"is 0 everywhere, but y depends on {name}: it may never be added or returned"
    elif not right.any():
        yield "should be zero", f"should be 0 everywhere, as y does not depend on {name}"
    else:
        factor = float((wrong * right).sum() / (right**2).sum())
        text, cause = _factor(factor, sizes, numbers) if factor else ("", "")
        if factor and _is_told(wrong, right, factor * right) and (cause or right.size > 1):
            yield "factor", f"{text}{cause}"
        for other, array in known.items():
            if array.shape == wrong.shape and wrong.size > 1 and array.any() and _is_told(wrong, right, array):
                yield "another", f"equals {other}"
        yield from _place(wrong, right)


def _is_told(wrong: Array, right: Array, guess: Array) -> bool:
    """True if the wrong numbers equal the guess."""
    return bool(np.abs(wrong - guess).max(initial=0) <= _SAME * np.abs(wrong - right).max(initial=0))


def _factor(factor: float, sizes: Mapping[str, int], numbers: Mapping[str, float]) -> tuple[str, str]:
    """("is 7.000 times too large, everywhere", ": 7 is the number of columns of x"); no equality if none is known."""
    if math.isclose(factor, -1, rel_tol=_SAME):
        return "has the wrong sign,", " everywhere"
    size = abs(factor)
    many = max(size, 1 / size)
    large = f"is {many:{'.3f' if many < 1000 else '.4g'}} times too {'large' if size > 1 else 'small'}, everywhere"
    large += " and has the wrong sign" if factor < 0 else ""
    found = (
        text
        for value, text in _equalities(sizes, numbers)
        if math.isclose(size, value, rel_tol=_SAME) or math.isclose(size * value, 1, rel_tol=_SAME)
    )
    equal = " or ".join(itertools.islice(dict.fromkeys(found), 2))
    return large, equal and f": {equal}"


def _equalities(sizes: Mapping[str, int], numbers: Mapping[str, float]) -> Iterator[tuple[float, str]]:
    """Return (a factor, its expression), the nearest first."""
    for name, value in numbers.items():
        yield value, f"{value:.4g} is {name}"
        yield 1 - value, f"{1 - value:.4g} is 1 − {name}"
    for name, size in sizes.items():
        yield size, f"{size} is {name}"
        yield math.sqrt(size), f"that is √{size}, and {size} is {name}"


def _place(wrong: Array, right: Array) -> Iterator[tuple[str, str]]:
    """Return the rows or columns with the errors, if most of their numbers are wrong; otherwise the places."""
    is_off = np.abs(wrong - right) > _SAME * np.abs(right).max()
    zero = ": it is 0 there" if not wrong[is_off].any() else ""
    for axis, item in enumerate(("row", "column")[: right.ndim]):
        off = is_off.any(axis=tuple(other for other in range(right.ndim) if other != axis))
        if 0 < off.sum() < len(off) and 2 * is_off.sum() > np.compress(off, is_off, axis).size:
            numbers = _first(np.flatnonzero(off))
            yield "place", f"is right but for {item if right.ndim > 1 else 'number'} {numbers} (counted from 0){zero}"
    if 0 < 2 * is_off.sum() <= is_off.size:
        places = _first(np.argwhere(is_off).tolist())
        yield (
            "place",
            f"is right but for {is_off.sum()} of its {is_off.size} numbers, at {places} (counted from 0){zero}",
        )


def _first(places: Any) -> str:
    return ", ".join(map(str, places[:6])) + (", …" if len(places) > 6 else "")


def cause_of_shape(wrong: Array, right: Array) -> str:
    """Return in words the operation that makes the right gradient from one of another shape; "" if none is simple."""
    wrong = np.asarray(wrong)
    guesses = [("transposed, it is right", wrong.T, right)]
    for axis in range(wrong.ndim):
        guesses.append((f"summed over axis {axis}, it is right", wrong.sum(axis), right))
    for axis in range(right.ndim):
        guesses.append((f"it is right, but summed over axis {axis}", right.sum(axis), wrong))
    guesses.append(("its numbers are right, and only need a reshape", wrong.ravel(), right.ravel()))
    for text, one, other in guesses:
        if one.shape == other.shape and np.allclose(one, other, rtol=_SAME, atol=_SAME * np.abs(other).max(initial=0)):
            return text
    return ""
