"""A product, or a sum over the rows, in which one of the arrays was changed before it was multiplied or summed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.changes import Guesses, changes_after, changes_of
from npbert.gradcheck.diagnosis.factors import cause_of
from npbert.gradcheck.diagnosis.finding import Case, Finding

_MOST_ELEMENTS = 500  # of an array that is changed in all these ways


class _Factor(NamedTuple):
    """One of the two in a product, by its name, and whether it is transposed there."""

    name: str
    array: Array
    is_turned: bool


def changed_product(case: Case) -> Iterator[Finding]:
    """The right product, or sum over the rows, but of arrays one or both of which are changed."""
    arrays = {name: array for name, array in case.known.items() if array.size <= _MOST_ELEMENTS}
    matrices = {name: array for name, array in arrays.items() if array.ndim == 2}
    vectors = {name: array for name, array in arrays.items() if array.ndim == 1}
    if case.right.ndim not in (1, 2) or case.right.size < 2:
        return
    matrices = {name: array for name, array in matrices.items() if " " not in name and "/" not in name}
    exact = 1e-9 * float(np.abs(case.right).max(initial=0))
    with np.errstate(all="ignore"):
        for right, guesses in _guesses(case, matrices, vectors, exact):
            for text, guess in itertools.chain(guesses, changes_after(case.right, right)):
                told = _times(case, guess)
                if told is not None:
                    yield Finding("changed", case.name, f"{case.d} is {text}{told}, where {right} is right")
                    return


def _guesses(
    case: Case, matrices: dict[str, Array], vectors: dict[str, Array], exact: float
) -> Iterator[tuple[str, Guesses]]:
    """What the right gradient is, in words, with what it would be of changed arrays; the first of them."""
    if case.right.ndim == 1:
        for name, array in matrices.items():
            if array.shape[1:] == case.right.shape and np.abs(array.sum(axis=0) - case.right).max() <= exact:
                others = {other: of_other for other, of_other in matrices.items() if other != name}
                yield f"the sum of {name} over the rows", _sums(name, array, vectors, others)
                return
        rows = {name: array for name, array in matrices.items() if array.shape[1:] == case.right.shape}
        for (name, a), (other, b) in itertools.combinations(rows.items(), 2):
            if a.shape == b.shape and np.abs((a * b).sum(axis=0) - case.right).max() <= exact:
                lines = {key: of for key, of in matrices.items() if of.shape == (len(a), 1)} | rows
                yield f"the sum of {name} · {other} over the rows", _sums_of_two((name, a), (other, b), vectors, lines)
                return
        return
    turned = [_Factor(name, array, is_turned) for name, array in matrices.items() for is_turned in (False, True)]
    for left, right in itertools.product(turned, repeat=2):
        a, b = _turned(left.array, left), _turned(right.array, right)
        is_fitting = a.shape[1] == b.shape[0] and (a.shape[0], b.shape[1]) == case.right.shape
        if is_fitting and np.abs(a @ b - case.right).max() <= exact:
            same = {name: array for name, array in matrices.items() if name not in (left.name, right.name)}
            yield f"{_called(left.name, left)} · {_called(right.name, right)}", _products(left, right, vectors, same)
            return


def _sums(name: str, array: Array, vectors: dict[str, Array], others: dict[str, Array]) -> Guesses:
    yield "the number of rows", np.full(array.shape[1:], float(len(array)))
    yield f"the first row of {name}", array[0]
    yield f"the last row of {name}", array[-1]
    yield f"the largest of {name} over the rows", array.max(axis=0)
    yield f"the smallest of {name} over the rows", array.min(axis=0)
    yield f"the product of {name} over the rows", array.prod(axis=0)
    for text, form in changes_of(name, array, vectors, others):
        yield f"the sum of {text} over the rows", form.sum(axis=0)


def _sums_of_two(
    one: tuple[str, Array], other: tuple[str, Array], vectors: dict[str, Array], lines: dict[str, Array]
) -> Guesses:
    """Σₙ aₙ bₙ, with something for a or b, or another factor."""
    (name, a), (other_name, b) = one, other
    yield f"the sum of {name}, times the sum of {other_name}", a.sum(axis=0) * b.sum(axis=0)
    for text, form in changes_of(name, a, vectors, {}):
        yield f"the sum of {text} · {other_name} over the rows", (form * b).sum(axis=0)
    for text, form in changes_of(other_name, b, vectors, {}):
        yield f"the sum of {name} · {text} over the rows", (a * form).sum(axis=0)
    for line, values in lines.items():
        if len(values) == len(a):
            yield f"the sum of {name} · {other_name} · {line} over the rows", (a * b * values).sum(axis=0)
            yield f"the sum of {name} · {other_name} / {line} over the rows", (a * b / values).sum(axis=0)


def _products(left: _Factor, right: _Factor, vectors: dict[str, Array], others: dict[str, Array]) -> Guesses:
    lefts, rights = (
        [(factor.name, factor.array), *changes_of(factor.name, factor.array, vectors, others)]
        for factor in (left, right)
    )
    pairs = sorted(itertools.product(range(len(lefts)), range(len(rights))), key=lambda pair: min(pair))
    for one, other in pairs[1:]:  # the first is the right one
        (name, a), (other_name, b) = lefts[one], rights[other]
        yield f"{_called(name, left)} · {_called(other_name, right)}", _turned(a, left) @ _turned(b, right)


def _times(case: Case, guess: Array) -> str | None:
    """ "" where it is the wrong gradient; in words, where it is but for a factor whose cause is known; else None."""
    if not np.isfinite(guess).all() or not guess.any():
        return None
    if case.explains(guess):
        return ""
    factor = float((case.wrong * guess).sum() / (guess * guess).sum())
    if factor in (0, 1) or not case.explains(factor * guess, fitted=2):
        return None
    cause = "" if factor == -1 else cause_of(factor, case.sizes, {})
    if abs(factor + 1) < 1e-9:
        return ", with the wrong sign"
    return f", times {factor:.4g} ({cause})".replace("-", "−") if cause else None


def _turned(array: Array, factor: _Factor) -> Array:
    return array.T if factor.is_turned else array


def _called(name: str, factor: _Factor) -> str:
    return f"{name}ᵀ" if factor.is_turned else name
