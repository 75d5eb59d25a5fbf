"""Errors with fields: what is wrong with a value. Python, the command line and lists each say it in their own words."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

from npbert.io.messages import closest


class Place(NamedTuple):
    """A file, or one line of it, from 1 on; 0 for all of it."""

    path: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}" if self.line else self.path


class Setting(NamedTuple):
    """An argument, a setting or an option in a sentence, under Python's name; with values to give it, if any."""

    name: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        value = self.values[0] if len(self.values) == 1 else self.values
        return f"{self.name}={value!r}" if self.values else self.name


Words = Callable[[Setting | Place], str]
"""The words of a front end: what it calls a place, and a setting; "" for one that it does not have. Python's: str."""

Sentence = str | tuple[str | Setting | Place, ...]


_NOTHING = ("''", "()")


@dataclass(eq=False, repr=False)
class Fields(Exception):  # noqa: N818  # those below are errors and warnings
    """What is wrong, in fields. str() says it in the words of a front end: Python's, until it sets `words`.

    says: a sentence, if not "what is got"   what: the name of an argument or a setting   got: its value
    wanted: what it should be   where: the file and the line   hint: what may help; left out by a front end that lacks a
    setting in it
    """

    says: Sentence = ""
    what: str = ""
    got: Any = None
    wanted: str = ""
    where: Place | str = ""
    hint: Sentence = ""
    words: Words = str

    def __post_init__(self) -> None:
        self.args = (str(self),)

    def __str__(self) -> str:
        got = repr(self.got) if isinstance(self.got, str) else str(self.got)
        said = self._said(self.says or (Setting(self.what), f" is {'missing' if got in _NOTHING else got}"))
        if where := self._said((self.where,)):
            said = f"{where}: {said}"
        if self.wanted:
            said += f", wanted {self.wanted}"
        if self.hint and all(isinstance(part, str) or self.words(part) for part in self.hint):
            said += f"; {self._said(self.hint)}"
        return said

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the sentence alone, as a front end's words are a function."""
        return type(self), (str(self),)

    def _said(self, sentence: Sentence) -> str:
        return "".join(part if isinstance(part, str) else self.words(part) or str(part) for part in sentence)


class InputError(Fields, ValueError):
    """A wrong value."""


class InputIndexError(InputError, IndexError):
    """A number out of range."""


class InputWarning(Fields, UserWarning):
    """A value that is probably a mistake."""


class Wanted(NamedTuple):
    """The values that something may have. words: what an error says is wanted. names: of them all, if any."""

    words: str
    holds: Callable[[Any], bool]
    names: tuple[str, ...] = ()

    def check(self, what: str, got: Any) -> None:
        """Raise InputError unless `got` is such a value, with the name that was probably meant."""
        try:
            is_right = self.holds(got)
        except TypeError:  # a text in place of a number, say
            is_right = False
        if not is_right:
            meant = closest(str(got), self.names)
            raise InputError(what=what, got=got, wanted=self.words, hint=f"did you mean {meant}?" if meant else "")


def at_least(least: int) -> Wanted:
    """A number that is not smaller, and that 64 bits can hold."""
    return Wanted(f"at least {least}", lambda value: least <= value < 2**63)


def count_from(least: int) -> Wanted:
    """A whole number that is not smaller."""
    number = at_least(least)
    return Wanted(f"{number.words}, a whole number", lambda value: isinstance(value, Integral) and number.holds(value))


def one_of(names: Collection[str]) -> Wanted:
    """One of the names; an empty one among them is for a value that is not given."""
    listed = tuple(filter(None, names))
    words = " or ".join(listed) if len(listed) == 2 else f"one of {', '.join(listed)}"
    return Wanted(words, lambda value: value in names, listed)


POSITIVE = Wanted("a positive number", lambda value: 0 < value < math.inf)
SHARE = Wanted("more than 0 and at most 1", lambda value: 0 < value <= 1)
