"""A factor, or an error, that is constant along one axis; and an error that follows a known array along one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.factors import fits
from npbert.gradcheck.diagnosis.finding import Case, Finding, along, d, listed, number


def factor_along_an_axis(case: Case) -> Iterator[Finding]:
    """Every line along an axis is right but for a factor of its own."""
    for axis in _axes(case):
        factors = _coefficients(case.wrong, case.right, axis)
        if np.isclose(factors[..., None], (0, 1), rtol=0, atol=1e-9).any(axis=-1).all():
            continue  # lines are right or missing: their places say more
        if case.explains(factors * case.right, fitted=factors.size) and _most_are_wrong(case, axis):
            item, line, lines = _called(axis, case.right.ndim)
            yield Finding(
                "axis factor",
                case.name,
                f"{case.d} is wrong by a factor that is the same for every {item} of a {line}: "
                f"{listed(map(float, factors.ravel()))}, as if a factor of the {lines} was left out or changed",
            )
            return


def error_along_an_axis(case: Case) -> Iterator[Finding]:
    """The same number too much, or too little, all along an axis."""
    for axis in _axes(case):
        amount = case.error.mean(axis=axis, keepdims=True)
        if not (case.explains(case.right + amount, fitted=amount.size) and _most_are_wrong(case, axis)):
            continue
        if case.explains(case.right + amount.mean()):
            added = "added to" if amount.mean() > 0 else "subtracted from"
            text = f"{case.d} would be right, but {number(abs(float(amount.mean())))} is {added} every number of it"
            yield Finding("axis error", case.name, text)
            return
        item, line, _ = _called(axis, case.right.ndim)
        text = f"{case.d} is off by the same number in every {item} of a {line}: {_listed(amount)}"
        if case.explains(case.right + case.wrong.mean(axis=axis, keepdims=True)):
            text += (
                f", which is its mean there, as if the mean over each {line} was not subtracted, or a number was added"
            )
        elif case.explains(case.right - case.right.mean(axis=axis, keepdims=True)):
            text += f", as if the mean over each {line} was subtracted, and should not be"
        yield Finding("axis error", case.name, text)
        return


def error_is_a_known(case: Case) -> Iterator[Finding]:
    """A known array came in as a term, some times: a small whole number of them."""
    gradients = {d(name): array for name, array in case.others.items()}
    for name, array in (case.known | gradients).items():
        if not fits(array, case.right.shape):
            continue
        for count in (1, -1, 2, -2):
            if case.right.size > 1 and case.explains(case.right + count * array):
                times = "" if abs(count) == 1 else "2 · "
                where = "added to it" if count > 0 else "subtracted from it"
                yield Finding("known error", case.name, f"{case.d} would be right, but {times}{name} is {where}")
                return
        some = float(_coefficients(case.error, np.broadcast_to(array, case.right.shape), None).item())
        if case.explains(case.right + some * array, fitted=2):
            where = "added to it" if some > 0 else "subtracted from it"
            times = f"{number(abs(some))} times {name}"
            yield Finding("known error", case.name, f"{case.d} would be right, but {times} is {where}")
            return


def error_along_a_known(case: Case) -> Iterator[Finding]:
    """In each line along an axis, the error is a multiple of an array that is known."""
    for axis in _axes(case):
        for name, array in case.known.items():
            if array.shape != case.right.shape:
                continue
            amount = _coefficients(case.error, array, axis)
            if case.explains(case.right + amount * array, fitted=amount.size) and _most_are_wrong(case, axis):
                _, line, _ = _called(axis, case.right.ndim)
                yield Finding(
                    "known error",
                    case.name,
                    f"{case.d} is off by a multiple of {name} in each {line}: {_listed(amount)} "
                    f"times, as if a term with {name} was lost, or came in, or had another factor in each {line}",
                )
                return


def _called(axis: int, ndim: int) -> tuple[str, str, str]:
    """What runs along an axis, and what a line along it is called, and several of them."""
    item, line = along(axis, ndim)
    return (item, line, f"{line}s") if ndim < 3 else ("number", line, line.replace("line", "lines"))


def _listed(amounts: Array) -> str:
    """In words, those that are 0 but for rounding as 0."""
    return listed(map(float, np.where(np.abs(amounts) > 1e-9 * np.abs(amounts).max(), amounts, 0).ravel()))


def _axes(case: Case) -> Iterator[int]:
    """Those along which there are at least three numbers to compare, the last axis first."""
    if case.right.ndim > 1:
        yield from (axis for axis in reversed(range(case.right.ndim)) if case.right.shape[axis] > 2)


def _most_are_wrong(case: Case, axis: int) -> bool:
    """Whether more than half of the lines along the axis are wrong; of fewer, the places say more."""
    return bool(case.is_wrong.any(axis=axis).mean() > 0.5)


def _coefficients(of: Array, on: Array, axis: int | None) -> Array:
    """For each line along the axis, or for the whole, the multiple of `on` that is nearest to `of`."""
    squares = (on * on).sum(axis=axis, keepdims=True)
    products = (of * on).sum(axis=axis, keepdims=True)
    return np.divide(products, squares, out=np.zeros_like(products), where=squares > 0)
