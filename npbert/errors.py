"""Errors with fields: what is wrong with a value. Python, the command line and lists each say it in their own words."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from npbert.messages import closest


class Place(NamedTuple):
    """A file, or one line of it, from 1 on."""

    path: str
    line: int | None = None

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}, line {self.line}"


class Setting(NamedTuple):
    """An argument, a setting or an option in a sentence, under Python's name; with values to give it, if any."""

    name: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        value = self.values[0] if len(self.values) == 1 else self.values
        return f"{self.name}={value!r}" if self.values else self.name


Sentence = str | tuple[str | Setting | Place, ...]


@dataclass(frozen=True)
class Words:
    """The words of a front end; by default Python's. setting: what it calls a setting, "" where it does not have it.
    place: what it calls a place."""

    setting: Callable[[Setting], str] = str
    place: Callable[[Place], str] = str

    def said(self, sentence: Sentence) -> str:
        """The sentence with names and places in these words."""
        return "".join(
            self.setting(part) or str(part) if isinstance(part, Setting)
            else self.place(part) if isinstance(part, Place)
            else part
            for part in ((sentence,) if isinstance(sentence, str) else sentence)
        )  # fmt: skip

    def knows(self, sentence: Sentence) -> bool:
        """True if the front end has all settings that the sentence names."""
        return all(self.setting(part) for part in sentence if isinstance(part, Setting))


class Fields(Exception):  # noqa: N818  # the two below are errors and warnings, too
    """What is wrong, in fields. str() says it in the `words` of a front end: Python's, until it sets its own.

    what: the name of an argument or a setting   got: its value   wanted: what it should be
    where: the file and the line   hint: what may help, left out where a front end cannot do it
    says: a sentence in place of "what is got"
    """

    words = Words()

    def __init__(
        self,
        says: Sentence = "",
        *,
        what: str = "",
        got: Any = None,
        wanted: str = "",
        where: Place | str = "",
        hint: Sentence = "",
    ) -> None:
        self.says, self.what, self.got, self.wanted, self.where, self.hint = says, what, got, wanted, where, hint
        super().__init__(str(self))

    def __str__(self) -> str:
        return self.said(self.words)

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process goes what it says, whoever's words these are."""
        return type(self), (str(self),)

    def said(self, words: Words) -> str:
        """All of it in these words, in a line."""
        shown = "missing" if self.got in ("", ()) else repr(self.got) if isinstance(self.got, str) else str(self.got)
        fact = words.said(self.says) or f"{words.said((Setting(self.what),))} is {shown}"
        where, hint = words.said((self.where,)), words.said(self.hint) if words.knows(self.hint) else ""
        wanted = f", wanted {self.wanted}" if self.wanted else ""
        return f"{where}{': ' if where else ''}{fact}{wanted}{'; ' if hint else ''}{hint}"


class InputError(Fields, ValueError):
    """A value that cannot be."""


class InputIndexError(InputError, IndexError):
    """A number beyond those that there are."""


class InputWarning(Fields, UserWarning):
    """A value that can hardly be meant."""


class Wanted(NamedTuple):
    """The values that something may have. words: what an error says is wanted. names: of them all, if any."""

    words: str
    holds: Callable[[Any], bool]
    names: tuple[str, ...] = ()

    def check(self, what: str, got: Any) -> None:
        """Raise InputError unless `got` is such a value, with the name that was probably meant."""
        if not self.holds(got):
            meant = closest(got, self.names) if self.names else None
            hint = f"did you mean {meant}?" if meant else ""
            raise InputError(what=what, got=got, wanted=self.words, hint=hint)


def at_least(least: int) -> Wanted:
    """A finite number that is not smaller."""
    return Wanted(f"at least {least}", lambda value: least <= value < math.inf)


def one_of(names: Collection[str]) -> Wanted:
    """One of the names; an empty one among them is for a value that is not given."""
    listed = tuple(filter(None, names))
    words = " or ".join(listed) if len(listed) == 2 else f"one of {', '.join(listed)}"
    return Wanted(words, lambda value: value in names, listed)


POSITIVE = Wanted("a positive number", lambda value: 0 < value < math.inf)
SHARE = Wanted("more than 0 and at most 1", lambda value: 0 < value <= 1)
