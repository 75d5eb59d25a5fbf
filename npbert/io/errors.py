"""Errors with fields, worded by Python, the command line and lists in their own terms."""

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from npbert.io.messages import did_you_mean

STANDARD_INPUT = "-"
"""Its name on the command line, in the place of a file's."""


class Place(NamedTuple):
    """A file, or a line of it, counted from 1; 0: the whole file."""

    path: str | Path
    line: int = 0

    def __str__(self) -> str:
        name = "standard input" if self.path == STANDARD_INPUT else str(self.path)
        return f"{name}, line {self.line}" if self.line else name


class Setting(NamedTuple):
    """An argument, a setting or an option in a sentence, by its Python name, perhaps with a value to give it."""

    name: str
    value: str | int = ""

    def __str__(self) -> str:
        return f"{self.name}={self.value!r}" if self.value else self.name


Words = Callable[[Setting | Place], str]
"""A front end's name for a place or a setting; "" if it has none. Python's front end: str."""

Sentence = str | tuple[str | Setting | Place, ...]

_NOTHING = ("''", "()")
_words: ContextVar[Words] = ContextVar("words", default=str)


@contextmanager
def worded_by(words: Words) -> Iterator[None]:
    """Within it, new errors and warnings are in the words of this front end."""
    before = _words.set(words)
    try:
        yield
    finally:
        _words.reset(before)


@dataclass(eq=False, repr=False)
class Fields(Exception):  # noqa: N818  # those below are errors and warnings
    """The base of errors and warnings with fields, in the words of the front end (`worded_by`).

    what: the name of an argument or a setting, with `got`, its value, and `wanted`, the expected one; or a sentence
    where: the file and the line   hint: the fix
    """

    what: Sentence
    got: Any = ...
    wanted: str = ""
    where: Place | str = ""
    hint: Sentence = ""

    def __post_init__(self) -> None:
        words, sentence = _words.get(), self.what
        if self.got is not ...:
            got = repr(self.got) if isinstance(self.got, str) else str(self.got)
            sentence = Setting(str(self.what)), f" is {'missing' if got in _NOTHING else got}, wanted {self.wanted}"
        said = _sentence(sentence, words)
        if where := _sentence((self.where,), words):
            said = f"{where}: {said}"
        if self.hint:
            said += f"; {_sentence(self.hint, words)}"
        self.args = (said,)


def _sentence(sentence: Sentence, words: Words) -> str:
    return "".join(part if isinstance(part, str) else words(part) or str(part) for part in sentence)


class InputError(Fields, ValueError):
    """A wrong value."""


class InputIndexError(InputError, IndexError):
    """A number out of range."""


class InputWarning(Fields, UserWarning):
    """A value that is probably a mistake."""


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
