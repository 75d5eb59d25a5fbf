"""Objects as text, for print, notebooks and errors: helpers for a repr; layers, their parameters and their entries on a
tape."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from textwrap import dedent, indent
from typing import Any, NamedTuple, TypeVar

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


class Entry(NamedTuple):
    """The values that a layer keeps on a tape, by name. outermost: the outermost running layer."""

    layer: Any
    values: Mapping[str, Any]
    outermost: Any

    def __str__(self) -> str:
        """`Linear (weight (3, 4), bias (4,)) kept: x (5, 3)`, for an error."""
        return f"{describe_layer(self.layer)} kept: {self.kept}"

    @property
    def kept(self) -> str:
        """`x (5, 8)`"""
        return ", ".join(f"{name} {_describe(value)}" for name, value in self.values.items())


def describe_parts(parts: Iterable[tuple[str, Any]]) -> str:
    """Return a line for each layer among the named parts: its path, settings, number of parameters, and their shapes.

    Equal layers of a list share a line, `layers.*: 12 × EncoderLayer`. A shared parameter counts once, at its first
    layer.
    """
    named = list(parts)
    parameters = {path: part.value for path, part in named if _is_parameter(part)}
    dtypes = ", ".join(sorted({str(value.dtype) for value in parameters.values()}))
    rows: Counter[tuple[str, str]] = Counter()
    for path, part in named:
        if not _is_parameter(part):
            below = f"{path}." if path else ""
            count = sum(value.size for name, value in parameters.items() if name.startswith(below))
            learned = f"{count:,} parameters{'' if path else f' of {dtypes}'}" if count else ""
            row = "  ".join(filter(None, [type(part).__name__ + _settings(part), learned, _shapes(part)]))
            rows[re.sub(r"\b\d+\b", "*", path), row] += 1
    (((_, whole), _), *rest) = rows.items()
    return titled(whole, *(f"{path}: {f'{n} × ' if n > 1 else ''}{row}" for (path, row), n in rest))


def describe_layer(layer: Any) -> str:
    """Return a layer with the shapes of its parameters: `Linear (weight (3, 4), bias (4,))`."""
    shapes = _shapes(layer)
    return f"{type(layer).__name__} ({shapes})" if shapes else type(layer).__name__


def _is_parameter(part: Any) -> bool:
    return hasattr(part, "add_grad")


def _shapes(layer: Any) -> str:
    parts = getattr(layer, "__dict__", {}).items()
    return ", ".join(f"{name} {part.value.shape}" for name, part in parts if _is_parameter(part))


def _settings(layer: Any) -> str:
    """Return the attributes that are plain values, `(p=0.1)`, and the shapes of arrays."""
    known = []
    for name, value in vars(layer).items():
        if isinstance(value, np.ndarray | int | float | str) and name[0] != "_":
            known.append(f"{name}={value.shape if isinstance(value, np.ndarray) else repr(value)}")
    return f"({', '.join(known)})" if known else ""


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(value.shape)
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        items = ", ".join(map(_describe, value))
        return f"[{items}]" if isinstance(value, list) else f"({items})"
    return str(value) if isinstance(value, int | np.dtype | None) else type(value).__name__
