"""fact_of: says of a wrong array by its numbers its shape, its size, or the number that differs most."""

import re

import numpy as np

from npbert.compute import Array
from npbert.gradcheck import explain
from npbert.gradcheck.explain import is_number
from npbert.gradcheck.inputs import magnitude
from npbert.gradcheck.report import largest_at
from npbert.learn.comparison import Comparison

_OF_ANY = "factor", "not finite"
"""The kinds of facts that are told of arrays that are no gradients, too."""


def fact_of(compared: Comparison, name: str) -> str:
    """Return what is wrong with an array, at its first wrong seed."""
    k = next(k for k, wrong in enumerate(compared.wrong) if name in wrong)
    one, right = compared.given[k].get(name), compared.right[k][name]
    if one is None:
        return f"{name} is missing"
    if not is_number(one):
        real = ". Of complex numbers, .real and .imag are real" * bool(np.iscomplexobj(one))
        return f"{name} is an array of {np.asarray(one).dtype}, wanted one of real numbers{real}"
    is_gradient, has_shape = re.fullmatch(r"d\w+", name) is not None, np.shape(one) == right.shape
    missing = _missing_rows(one, right) if np.ndim(one) and np.ndim(one) == right.ndim else ""
    if missing or not (is_gradient or has_shape):
        return f"{name} has shape {np.shape(one)}, wanted {right.shape}{missing}"
    for finding in explain(one, right, name=name[1:] if is_gradient else name):
        if is_gradient or finding.kind in _OF_ANY:
            return name + finding.cause.removeprefix(finding.subject)
    return _example(name, np.asarray(one), right)


def _missing_rows(one: Array, right: Array) -> str:
    """Return the missing rows of the right array, if all others are right; otherwise ""."""
    if one.shape[1:] != right.shape[1:] or len(one) >= len(right):
        return ""
    rows = [number for number, row in enumerate(right) if not any(np.allclose(row, each) for each in one)]
    if len(one) + len(rows) != len(right):
        return ""
    numbers, zero = ", ".join(map(str, rows)), "" if right[rows].any() else ", which are 0"
    return (
        f": row {numbers} of {len(right)} (counted from 0) {'is' if len(rows) == 1 else 'are'} missing{zero}. Start "
        "with np.zeros of the whole shape, and put your rows in their places"
    )


def _example(name: str, one: Array, right: Array) -> str:
    """Return the number that differs most."""
    off = np.abs(np.subtract(one, right, dtype=float))
    place, number = largest_at(off), np.count_nonzero(off > 1e-6 * magnitude(right))
    where = f" at {list(place)}" if place else ""
    count = f"; {number} of its {off.size} numbers are wrong" if number and place else ""
    digits = 6 if f"{one[place]:.6g}" != f"{right[place]:.6g}" else 12
    return f"{name} is wrong: {one[place]:.{digits}g}{where}, wanted {right[place]:.{digits}g}{count}"
