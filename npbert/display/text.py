"""Helpers for the repr of objects: one text, for print and for notebooks."""

from textwrap import dedent, indent
from typing import Any, TypeVar

import numpy as np

Kind = TypeVar("Kind", bound=type)


class Text(str):
    """A text whose repr is the text, so a notebook shows it without quotes."""

    __repr__ = str.__str__


def titled(title: str, *lines: str) -> Text:
    """Return the title, and below it, indented, the lines that are not empty."""
    return Text("\n".join([title, *(indent(line, "  ") for line in lines if line)]))


def with_title(text: str) -> Text:
    """Return the text with all lines after the first, the title, indented."""
    title, _, below = text.partition("\n")
    return titled(title.strip(), dedent(below))


def in_short(value: Any) -> str:
    """Return an array's shape, dtype and a few numbers; any other value as its repr."""
    if isinstance(value, np.ndarray):
        few = np.array2string(value, threshold=8, edgeitems=2, precision=4)
        return f"{value.shape} of {value.dtype}: {' '.join(few.split())}"
    return str(value)


def shown_in_short(kind: Kind) -> Kind:
    """Give a named tuple or a dataclass a repr with a line for each field (a decorator)."""

    def text(self: Any) -> str:
        names = self.__match_args__
        return titled(type(self).__name__, *(f"{name}: {in_short(getattr(self, name))}" for name in names))

    kind.__repr__ = text  # type: ignore[method-assign, assignment]
    return kind
