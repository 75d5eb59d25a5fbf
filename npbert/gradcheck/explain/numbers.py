"""explain: what is true of the numbers of a wrong gradient, where no edit of the code explains them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.factors import how_large
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.names import d
from npbert.gradcheck.explain.orders import orders
from npbert.gradcheck.explain.shapes import cause_of_shape

_SAME = 1e-6  # what is left over, beside the largest error, by a statement that is true
_ROUNDED = 1e-4  # the relative error below which no formula is wrong
_AXES = {0: ("row", "column"), 1: ("column", "row")}


@dataclass(frozen=True)
class Numbers:
    """A wrong gradient beside the right one. called: the gradient, in the reader's own words.

    sizes, numbers: what a factor may be made of, by names.   known: arrays that may have been left out, or be too many.
    """

    wrong: Array
    right: Array
    called: str
    of: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    known: Mapping[str, Array] = field(default_factory=dict)

    @property
    def error(self) -> Array:
        return self.wrong - self.right

    def is_told_by(self, guess: Array, fitted: int = 0) -> bool:
        """Whether the wrong numbers are these; `fitted` of them were used to find the guess."""
        left = np.abs(self.wrong - guess).max(initial=0)
        return self.wrong.size > fitted and bool(left <= _SAME * np.abs(self.error).max(initial=0))


def explain(
    wrong: Array,
    right: Array,
    *,
    name: str,
    sizes: Mapping[str, int] | None = None,
    numbers: Mapping[str, float] | None = None,
) -> list[Finding]:
    """The one thing that is true of the error of a gradient, and most telling; empty when nothing is.

    wrong, right: the gradient and what it should be, in float64. name: of the parameter or input, `x` for dx.
    sizes: {"the number of columns of x": 7}, and numbers: {"p": 0.3}, which a factor may be made of.
    """
    return told(Numbers(np.asarray(wrong), np.asarray(right, np.float64), d(name), name, sizes or {}, numbers or {}))


def told(case: Numbers) -> list[Finding]:
    """As explain, of a case."""
    if case.wrong.shape == case.right.shape and case.wrong.dtype == case.right.dtype:
        largest = np.abs(case.right).max(initial=0)
        if np.isfinite(case.wrong).all() and np.abs(case.error).max(initial=0) <= 1e-14 * largest:
            return []
    for statement in (_kind, _finite, _zero, _factor, _known_factor, _order, _another, _digits, _place, _line, _error):
        for kind, text in statement(case):
            return [Finding(kind, case.called, "", "", "", f"{case.called} {text}")]
    return []


def _kind(case: Numbers) -> Iterator[tuple[str, str]]:
    if case.wrong.shape != case.right.shape:
        cause = cause_of_shape(case.wrong, case.right)
        text = f"has shape {case.wrong.shape}, and {case.of} has shape {case.right.shape}"
        yield "shape", f"{text}{cause and ': ' + cause}"
    elif case.wrong.dtype != case.right.dtype:
        yield "dtype", f"is {case.wrong.dtype}, and {case.of} is {case.right.dtype}"


def _finite(case: Numbers) -> Iterator[tuple[str, str]]:
    bad = ~np.isfinite(case.wrong)
    if bad.any():
        first = tuple(map(int, np.argwhere(bad)[0]))
        at = f", the first at {first}" if first else ""
        yield "not finite", f"has {np.count_nonzero(bad)} of {bad.size} numbers that are not finite{at}"


def _zero(case: Numbers) -> Iterator[tuple[str, str]]:
    if not case.wrong.any():
        yield "zero", f"is 0 everywhere, though y moves with {case.of}: is it never added, or never returned?"
    elif not case.right.any():
        yield "should be zero", f"should be 0 everywhere, as y does not move with {case.of}"


def _factor(case: Numbers) -> Iterator[tuple[str, str]]:
    factor = float((case.wrong * case.right).sum() / (case.right**2).sum())
    if factor and case.is_told_by(factor * case.right):
        text, is_sure = how_large(factor, case.sizes, case.numbers)
        if is_sure or case.right.size > 1:
            yield "factor", text


def _known_factor(case: Numbers) -> Iterator[tuple[str, str]]:
    with np.errstate(all="ignore"):
        for (name, array), power in itertools.product(case.known.items(), (1, -1, 2)):
            if case.right.size > 1 and _fits(array, case.right) and case.is_told_by(case.right * array**power):
                says = {1: f"multiplied by {name}", -1: f"divided by {name}", 2: f"multiplied by {name}²"}[power]
                yield "known factor", f"is the right one, {says}"


def _order(case: Numbers) -> Iterator[tuple[str, str]]:
    if np.unique(case.right).size < 4:
        return
    far = np.abs(np.sort(case.wrong, axis=None) - np.sort(case.right, axis=None)).max()
    if far <= _SAME * np.abs(case.error).max():
        text = next(
            (text for text, guess in orders(case.wrong, case.right) if case.is_told_by(guess)), "in another order"
        )
        yield "order", f"has the right numbers, but {text}"


def _another(case: Numbers) -> Iterator[tuple[str, str]]:
    for name, array in case.known.items():
        for text, other in ((name, array), (f"{name} transposed", array.T)):
            if other.shape == case.wrong.shape and other.any() and case.is_told_by(other, 1):
                yield "another", f"is just {text}"


def _line(case: Numbers) -> Iterator[tuple[str, str]]:
    """An error, or a factor, that is the same all along an axis."""
    for axis in range(case.right.ndim if case.right.ndim > 1 and min(case.right.shape) > 1 else 0):
        each, along = _AXES[axis] if case.right.ndim == 2 else (f"place along axis {axis}", "line")
        mean = case.error.mean(axis=axis, keepdims=True)
        if case.is_told_by(case.right + mean, mean.size):
            lines = {"sum": case.right.sum(axis, keepdims=True), "mean": case.right.mean(axis, keepdims=True)}
            lacks = f", as if a sum over each {along} is missing, or too many"
            for (what, line), (sign, how) in itertools.product(lines.items(), ((-1, "subtracted"), (1, "added"))):
                if case.is_told_by(case.right + sign * line):
                    lacks = f", as if the {what} over each {along} was {how}, and should not be"
            yield "axis error", f"is off by the same number in every {each} of a {along}{lacks}"
        squares = (case.right**2).sum(axis=axis, keepdims=True)
        factor = np.divide((case.wrong * case.right).sum(axis, keepdims=True), squares, where=squares > 0,
                           out=np.zeros_like(squares))  # fmt: skip
        if factor.all() and case.is_told_by(case.right * factor, factor.size):
            yield "axis factor", f"is wrong by a factor that is the same in every {each} of a {along}"


def _error(case: Numbers) -> Iterator[tuple[str, str]]:
    """The error is a multiple of an array that is known: a road that is missing, or there too often."""
    for name, array in case.known.items():
        if array.shape == case.right.shape and array.any():
            c = float((case.error * array).sum() / (array**2).sum())
            if c and case.is_told_by(case.right + c * array, 1):
                many = "" if math.isclose(abs(c), 1) else f"{abs(c):.4g} · "
                too = f"{many}{name} {'too much' if c > 0 else 'short'}"
                yield "known error", f"is right but for {too}: that road is {'' if c > 0 else 'not '}counted"


def _digits(case: Numbers) -> Iterator[tuple[str, str]]:
    relative = float(np.abs(case.error).max() / np.abs(case.right).max())
    if 0 < relative < _ROUNDED and not case.wrong[case.right == 0].any():
        is_float32 = np.array_equal(case.wrong.astype(np.float32), case.wrong)
        how = "its numbers are those of float32" if is_float32 else "as if a number in it was rounded"
        yield "rounded", f"is right in about {-math.log10(relative):.0f} digits, and a formula is right in 15: {how}"


def _place(case: Numbers) -> Iterator[tuple[str, str]]:
    """Right but in some rows, or columns."""
    is_off = np.abs(case.error) > _SAME * max(np.abs(case.right).max(), 1e-300)
    for axis in range(min(case.right.ndim, 2)):
        others = tuple(other for other in range(case.right.ndim) if other != axis)
        off = is_off.any(axis=others)
        if 0 < off.sum() < len(off):
            item = _AXES[axis][0] if case.right.ndim > 1 else "number"
            numbers = ", ".join(map(str, np.flatnonzero(off)[:6])) + (", …" if off.sum() > 6 else "")
            line = np.take(case.wrong, np.flatnonzero(off), axis=axis)
            zero = ": it is 0 there" if not line.any() else ""
            yield "place", f"is right but for {item} {numbers} (counted from 0){zero}"


def _fits(array: Array, to: Array) -> bool:
    try:
        return np.broadcast_shapes(array.shape, to.shape) == to.shape
    except ValueError:
        return False
