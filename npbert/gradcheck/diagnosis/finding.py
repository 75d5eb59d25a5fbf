"""Finding: one true statement about a wrong gradient. Case: the gradient, and all that may help to explain it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from npbert.compute import Array

ACCURACY = 1e-6
"""A formula explains a wrong gradient if what it leaves over is at most this part of the error."""

ROUNDING = 1e-12
"""What is at most this part of the error is 0."""

_TO_SPARE = 3  # so many numbers a formula must explain that it was not fitted to
_MOST_LISTED = 6


class Finding(NamedTuple):
    """What is true of an error.

    what: its kind, a short name (`factor`, `order`, `ledger`, …).   where: the parameter or input.   text: in words.
    """

    what: str
    where: str
    text: str

    def __str__(self) -> str:
        return self.text


class Term(NamedTuple):
    """One term of a formula.

    road: what it is called.   forms: by how they are written, what people write for it, the right one first, without
    its sign.   sign: of the right one, 1 or −1.   legend: what the letters mean.
    """

    road: str
    forms: dict[str, Array]
    sign: int
    legend: str = ""
    front: str = ""


@dataclass(frozen=True)
class Case:
    """A wrong gradient beside the right one, and what is known of the layer: see `explain`.

    cuts: other ways than `roads` to cut the right gradient into parts. terms: of the formula that it is.
    """

    wrong: Array
    right: Array
    name: str
    sizes: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    known: dict[str, Array] = field(default_factory=dict)
    roads: dict[str, Array] = field(default_factory=dict)
    mistakes: dict[str, Array] = field(default_factory=dict)
    others: dict[str, Array] = field(default_factory=dict)
    places: dict[str, Array] = field(default_factory=dict)
    heads: int = 1
    lengths: tuple[int, ...] = ()
    called: str = ""
    cuts: tuple[dict[str, Array], ...] = ()
    terms: Callable[[], tuple[Term, ...]] = tuple

    @cached_property
    def error(self) -> Array:
        """wrong − right."""
        return self.wrong - self.right

    @cached_property
    def allowed(self) -> float:
        """What a formula may leave over of any number: what does not count beside the error, nor beside what is right,
        but for rounding."""
        return max(ACCURACY * self._counts, ROUNDING * float(np.abs(self.wrong).max(initial=0)))

    def is_zero(self, array: Array) -> bool:
        """Whether it is 0 but for rounding. (Beside an error of 10¹⁵ a right number is no 0 yet.)"""
        return bool(np.abs(array).max(initial=0) <= ROUNDING * min(self._largest_error, 1))

    @cached_property
    def is_wrong(self) -> Array:
        """Which entries are wrong: those whose error counts beside the largest, or beside what is right."""
        return np.abs(self.error) > ACCURACY * self._counts

    @cached_property
    def _counts(self) -> float:
        return min(self._largest_error, float(np.abs(self.right).max(initial=0)) or math.inf)

    @cached_property
    def _largest_error(self) -> float:
        return float(np.abs(self.error).max(initial=0))

    @cached_property
    def _telling(self) -> int:
        """How many numbers there are by which a guess could be found out."""
        return int(np.count_nonzero((np.abs(self.wrong) > self.allowed) | (np.abs(self.right) > self.allowed)))

    def explains(self, guess: Array, fitted: int = 0) -> bool:
        """Whether `guess` is the wrong gradient, after `fitted` numbers in it were chosen to make it so."""
        if fitted and self._telling - fitted < _TO_SPARE:
            return False
        left_over = np.abs(self.wrong - guess)
        return bool(left_over.max(initial=0) <= self.allowed)  # False for a NaN

    def name_of(self, array: Array) -> str:
        """Which of the other gradients this array is, in words; "" where it is none of them."""
        small = ACCURACY * 1e-3 * float(np.abs(array).max(initial=0))
        alike = ((name, other) for name, other in self.others.items() if other.shape == array.shape)
        return next((d(name) for name, other in alike if np.abs(other - array).max(initial=0) <= small), "")

    @property
    def d(self) -> str:
        """What the gradient is called: dx."""
        return self.called or d(self.name)


def d(name: str) -> str:
    """What the gradient of `name` is called; a name of several words is that of a gradient already."""
    if " " in name:
        return name
    return f"d{name}" if name.isidentifier() else f"the gradient of {name}"


def number(value: float) -> str:
    """A number to be read: 7.000, −0.3333, 2.5e-07."""
    size, rounded_by = abs(value), abs(value - round(value, 3))
    is_nearly = 0.1 <= size < 1e4 and 1e-6 * size < rounded_by and round(value, 3) == round(value)
    text = f"{value:.7g}" if is_nearly else f"{value:.3f}" if 0.1 <= size < 1e4 or value == 0 else f"{value:.4g}"
    return text.replace("-", "−", 1) if text.startswith("-") else text


def listed(values: Iterable[object], most: int = _MOST_LISTED) -> str:
    """The first of them, and that there are more."""
    texts = [number(value) if isinstance(value, float) else str(value) for value in values]
    return ", ".join(texts[:most]) + (", …" if len(texts) > most else "")


def plural(item: str) -> str:
    """rows, slices of axis 2"""
    first, _, rest = item.partition(" ")
    return f"{'entrie' if first == 'entry' else first}s {rest}".strip()


def along(axis: int, ndim: int) -> tuple[str, str]:
    """What runs along an axis, and what a line along it is called: ("row", "column") for the first of two."""
    if ndim > 2:
        return f"slice of axis {axis}", f"line along axis {axis}"
    return ("row", "column") if axis == 0 else ("column", "row")
