"""The ways in which people change an array before, or after, they multiply it: each with its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.factors import fits

Guesses = Iterator[tuple[str, Array]]

_ELEMENTWISE: dict[str, Callable[[Array], Array]] = {
    "|{}|": np.abs,
    "({}²)": np.square,
    "(1/{})": np.reciprocal,
    "exp({})": np.exp,
    "sign({})": np.sign,
    "max({}, 0)": lambda array: np.maximum(array, 0),
    "(1 − {})": lambda array: 1 - array,
    "(1 + {})": lambda array: 1 + array,
}
_ALONG: dict[str, Callable[[Array, int], Array]] = {
    "the mean of {} over the {}": lambda array, axis: array.mean(axis=axis, keepdims=True),
    "the sum of {} over the {}": lambda array, axis: array.sum(axis=axis, keepdims=True),
    "the largest of {} over the {}": lambda array, axis: array.max(axis=axis, keepdims=True),
    "the smallest of {} over the {}": lambda array, axis: array.min(axis=axis, keepdims=True),
}
_AFTER: dict[str, Callable[[Array], Array]] = {
    "the absolute value of {}": np.abs,
    "the square of {}": np.square,
    "{} with 0 for what is negative": lambda array: np.maximum(array, 0),
    "{} added up down the rows": lambda array: np.cumsum(array, axis=0),
    "{} less its mean over the rows": lambda array: array - array.mean(axis=0),
    "{} less its mean over the columns": lambda array: array - array.mean(axis=-1, keepdims=True),
    "{} divided by its length": lambda array: array / np.sqrt((array * array).sum()),
}


def changes_of(name: str, array: Array, vectors: dict[str, Array], others: dict[str, Array]) -> Guesses:
    """The array in the ways in which people change one, all of its shape."""
    for text, change in _ELEMENTWISE.items():
        yield text.format(name), change(array)
    yield f"[1 in place of {name}]", np.ones_like(array)
    for other, of_other in others.items():
        if of_other.shape == array.shape:
            yield other, of_other
            yield f"({name} · {other})", array * of_other
            yield f"({name} · [{other} > 0])", array * (of_other > 0)
            yield f"({name} · {other} (1 − {other}))", array * of_other * (1 - of_other)
            yield f"({name} · (1 − {other}²))", array * (1 - of_other * of_other)
            yield f"({name} + {other})", array + of_other
            yield f"({name} − {other})", array - of_other
    for vector, values in vectors.items():
        if fits(values, array.shape):
            yield f"({name} + {vector})", array + values
            yield f"({name} − {vector})", array - values
            yield f"({name} · {vector})", array * values
            for other, of_other in others.items():
                if of_other.shape == array.shape:
                    yield f"({other} − {vector})", of_other - values
    for axis, lines in enumerate(("rows", "columns")):
        for text, reduce in _ALONG.items():
            reduced, words = reduce(array, axis), text.format(name, lines)
            yield f"[{words}]", np.broadcast_to(reduced, array.shape)
            yield f"({name} − [{words}])", array - reduced
        for number, which in ((0, "first"), (-1, "last")):
            alone = np.zeros_like(array)
            index: tuple[int | slice, ...] = (number,) if axis == 0 else (slice(None), number)
            alone[index] = array[index]
            yield f"[the {which} {lines[:-1]} of {name} alone]", alone
            everywhere = np.broadcast_to(alone.sum(axis=axis, keepdims=True), array.shape)
            yield f"[the {which} {lines[:-1]} of {name}, for every {lines[:-1]}]", everywhere
            yield f"({name} without its {which} {lines[:-1]})", array - alone
        yield f"[{name} with its {lines} in the reverse order]", np.flip(array, axis)


def changes_after(right: Array, text: str) -> Guesses:
    """What people do with the right gradient, called `text`, once they have it."""
    for changed, change in _AFTER.items():
        yield changed.format(text), change(right)
