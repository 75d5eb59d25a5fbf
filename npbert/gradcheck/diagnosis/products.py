"""A gradient that is a product, or a sum of products, of other arrays than the right one is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import Case, Finding

_MOST_ELEMENTS = 4096  # of an array that is tried


def wrong_product(case: Case) -> Iterator[Finding]:
    """The wrong gradient as a product of arrays that are known, and the right one, if it is one, too."""
    known = {name: array for name, array in case.known.items() if array.ndim == 2 and array.size <= _MOST_ELEMENTS}
    products = {1: _sums, 2: matrix_products}.get(case.right.ndim)
    if products is None or case.right.size < 2:
        return
    said = next((text for text, guess in products(known, case.right.shape) if case.explains(guess)), None)
    if said is None:
        return
    scale = 1e-9 * np.abs(case.right).max(initial=0)
    for text, guess in products(known, case.right.shape):
        if np.abs(guess - case.right).max(initial=0) <= scale:
            yield Finding("product", case.name, f"{case.d} is {said}, where {text} is right")
            return
    yield Finding("product", case.name, f"{case.d} is {said}")


def _sums(known: dict[str, Array], shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """One array, or the product of two, brought to a single row."""
    rows = {name: array for name, array in known.items() if array.shape[1:] == shape and len(array) > 1}
    lines = {name: array for name, array in known.items() if array.shape[1:] in ((1,), shape) and len(array) > 1}
    for how, reduce in _REDUCTIONS.items():
        for name, array in rows.items():
            yield how.format(name), reduce(array)
        for (name, array), (other, factor) in itertools.product(rows.items(), lines.items()):
            if len(array) == len(factor):
                yield how.format(f"{name} · {other}"), reduce(array * factor)
                if name != other:
                    with np.errstate(all="ignore"):
                        yield how.format(f"{name} / {other}"), reduce(array / factor)


_REDUCTIONS: dict[str, Callable[[Array], Array]] = {
    "the sum of {} over the rows": lambda array: array.sum(axis=0),
    "the mean of {} over the rows": lambda array: array.mean(axis=0),
    "the first row of {}": lambda array: array[0],
    "the last row of {}": lambda array: array[-1],
}


def matrix_products(known: dict[str, Array], shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """A B for each two of the arrays, with either or both transposed, or reshaped as if they were."""
    forms: dict[str, Array] = {}
    for name, array in known.items():
        short = f"({name})" if {" ", "/"} & set(name) else name
        forms |= {short: array, f"{short}ᵀ": array.T}
        if array.shape[0] != array.shape[1]:
            forms[f"{short}.reshape{array.shape[::-1]}"] = array.reshape(array.shape[::-1])
    for (one, a), (other, b) in itertools.product(forms.items(), repeat=2):
        if a.shape[1:] == b.shape[:1] and (*a.shape[:1], *b.shape[1:]) == shape:
            yield f"{one} · {other}", a @ b
