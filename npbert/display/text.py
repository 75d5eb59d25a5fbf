"""Helpers for the repr of objects: one text, for print and for notebooks."""

from dataclasses import fields, is_dataclass
from textwrap import dedent, indent
from typing import Any, TypeVar

import numpy as np

Kind = TypeVar("Kind", bound=type)


class Text(str):
    """A text whose repr is the text, so a notebook shows it without quotes."""

    __repr__ = str.__str__


def titled(title: str, *lines: str) -> Text:
    """Return the title, and below it, indented, the lines that are not empty."""
    below = "\n".join(filter(None, lines))
    return Text("\n".join(filter(None, [title, indent(below, "  ")])))


def with_title(text: str) -> Text:
    """Return the text with all lines after the first, the title, indented."""
    title, _, below = text.partition("\n")
    return titled(title.strip(), dedent(below))


def in_short(value: Any) -> str:
    """Return an array's shape, dtype and a few numbers; any other value as its repr."""
    if isinstance(value, np.ndarray):
        few = np.array2string(value, threshold=8, edgeitems=2, precision=4, max_line_width=10**6)
        return f"{value.shape} of {value.dtype}: {' '.join(few.split())}"
    return str(value)


def shown_in_short(kind: Kind) -> Kind:
    """Give a named tuple or a dataclass a repr with a line for each field (a decorator)."""

    def text(self: Any) -> str:
        names = [field.name for field in fields(self)] if is_dataclass(self) else self._fields
        return titled(type(self).__name__, *(f"{name}: {in_short(getattr(self, name))}" for name in names))

    kind.__repr__ = text  # type: ignore[method-assign, assignment]
    return kind
