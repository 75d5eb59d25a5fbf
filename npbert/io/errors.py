"""Errors of a wrong value, worded by Python, the command line and lists in their own terms."""

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from npbert.io.messages import did_you_mean

STANDARD_INPUT = "-"
"""Its name on the command line, in the place of a file's."""


class Place(NamedTuple):
    """A file, or a line of it, counted from 1; 0: the whole file. As text, it is in the words of the front end."""

    path: str | Path
    line: int = 0

    def __str__(self) -> str:
        name = "standard input" if self.path == STANDARD_INPUT else str(self.path)
        return _words.get()(self) or (f"{name}, line {self.line}" if self.line else name)


class Setting(NamedTuple):
    """An argument, a setting or an option in a sentence, by its Python name, perhaps with a value to give it. As text,
    it is in the words of the front end."""

    name: str
    value: str | int = ""

    def __str__(self) -> str:
        return _words.get()(self) or (f"{self.name}={self.value!r}" if self.value else self.name)


Words = Callable[[Setting | Place], str]
"""A front end's name for a place or a setting; "" if it has none, as Python's front end."""

_NOTHING = ("''", "()")
_words: ContextVar[Words] = ContextVar("words", default=lambda named: "")


@contextmanager
def worded_by(words: Words) -> Iterator[None]:
    """Within it, places and settings in texts, as those of errors, are in the words of this front end."""
    before = _words.set(words)
    try:
        yield
    finally:
        _words.reset(before)


class InputError(ValueError):
    """A wrong value.

    what: the name of an argument or a setting, with `got`, its value, and `wanted`, the expected one; or a sentence
    """

    def __init__(self, what: str, got: Any = ..., wanted: str = "") -> None:
        self.what = said = what
        if got is not ...:
            value = repr(got) if isinstance(got, str) else str(got)
            said = f"{Setting(what)} is {'missing' if value in _NOTHING else value}, wanted {wanted}"
        super().__init__(said)


class InputIndexError(InputError, IndexError):
    """A number out of range."""


class Wanted(NamedTuple):
    """The allowed values of a setting. words: the expectation in an error. names: all values, if they are names."""

    words: str
    holds: Callable[[Any], bool]
    names: tuple[str, ...] = ()

    def allows(self, got: Any) -> bool:
        """True for an allowed value; False also for another type, such as a text instead of a number."""
        with suppress(TypeError, ValueError):
            return self.holds(got)
        return False

    def check(self, what: str, got: Any) -> None:
        """Raise InputError unless `got` is allowed, with the closest name."""
        if not self.allows(got):
            raise InputError(what, got, self.words + did_you_mean(str(got), self.names))


def at_least(least: int) -> Wanted:
    """A number of at least `least` that fits into 64 bits."""
    return Wanted(f"at least {least}", lambda value: least <= value < 2**63)


def one_of(names: Collection[str]) -> Wanted:
    """One of the names. An empty name allows a missing value."""
    listed = tuple(filter(None, names))
    return Wanted(f"one of {', '.join(listed)}", lambda value: value in names, listed)


POSITIVE = Wanted("a positive number", lambda value: 0 < value < math.inf)
RATE = Wanted("at least 0 and less than 1", lambda value: 0 <= value < 1)
SHARE = Wanted("more than 0 and at most 1", lambda value: 0 < value <= 1)
