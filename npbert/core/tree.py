"""tree: a layer as text, with the shapes of its parameters and how many numbers they hold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from npbert.core.parameter import Parameter
from npbert.core.parts import dotted, is_part, named_parameters, parts_of

WIDTH = 76
"""Columns that the parameters of a layer may fill; where they do not fit, each has a line of its own."""
SETTINGS = 48
"""Columns for the settings of a layer."""


class Line(NamedTuple):
    """A part of the tree. size: how many numbers it has that no part before it had. times: that many equal neighbours
    share the line, and the size is that of each."""

    depth: int
    name: str
    text: str
    size: int
    times: int = 1

    @property
    def left(self) -> str:
        """All but the count."""
        name = f"{self.name}: " if self.name else ""
        times = f"{self.times} × " if self.times > 1 else ""
        return f"{'  ' * self.depth}{name}{times}{self.text}"


def tree(layer: Any) -> str:
    """A line for the layer and one for each part in it, with its settings, shapes and how many numbers it holds.

    Equal neighbours in a list share their lines (`layers: 12 × EncoderLayer`). What stands in two places is counted at
    the first, and the second says which that is.
    """
    lines = _Walk(layer).lines("", "", layer, 0)
    width = max((len(line.left) for line in lines if line.size), default=0)
    digits = len(f"{lines[0].size:,}")
    shown = []
    for line in lines:
        unit = " parameters" if line is lines[0] else " each" if line.times > 1 else ""
        shown.append(f"{line.left:<{width}}  {line.size:>{digits},}{unit}" if line.size else line.left)
    return "\n".join(shown)


class _Walk:
    """Makes the lines, and knows where each part was first."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.places: dict[int, str] = {}

    def lines(self, name: str, place: str, value: Any, depth: int) -> list[Line]:
        """The lines of what is at `place`: a Parameter, a layer and all in it, or a list, tuple or dict of them."""
        if not is_part(value):
            return self._lines_of_several(name, place, value, depth)
        kind = f"Parameter {value.value.shape}" if isinstance(value, Parameter) else type(value).__name__
        if id(value) in self.places:
            first = self.places[id(value)] or type(self.root).__name__
            return [Line(depth, name, f"{kind}, the same as {first}", 0)]
        self.places[id(value)] = place
        if isinstance(value, Parameter):
            return [Line(depth, name, kind, value.value.size)]

        parts = {str(key): part for key, part in vars(value).items() if _holds_parts(part)}
        below: list[Line] = []
        for key, part in parts.items():
            below += self.lines(key, dotted(place, key), part, depth + 1)
        head = kind + _settings(value) + (_dtypes(value) if value is self.root else "")
        top = Line(depth, name, head, sum(line.size * line.times for line in below if line.depth == depth + 1))
        if all(isinstance(part, Parameter) for part in parts.values()) and all(line.size for line in below):
            shapes = ", ".join(f"{key} {part.value.shape}" for key, part in parts.items())
            inline = top._replace(text=f"{head}  {shapes}".rstrip())
            return [inline] if len(inline.left) <= WIDTH else [top, *below]
        return [top, *below]

    def _lines_of_several(self, name: str, place: str, group: Any, depth: int) -> list[Line]:
        parts = {key: part for key, part in parts_of(group).items() if _holds_parts(part)}
        runs: list[tuple[list[Any], list[Line]]] = []  # the keys of equal neighbours, and their lines
        for key, part in parts.items():
            lines = self.lines("", dotted(place, key), part, depth)
            if runs and runs[-1][1] == lines and is_part(part) and not isinstance(group, dict):
                runs[-1][0].append(key)
            else:
                runs.append(([key], lines))
        found = []
        for keys, lines in runs:
            label = dotted(name, keys[0])
            if len(keys) > 1:
                label = name if len(keys) == len(parts) else f"{label} to {keys[-1]}"
            for line in lines:
                is_top = line.depth == depth
                own = dotted(label, line.name) if line.name else label
                found.append(line._replace(name=own, times=max(line.times, len(keys))) if is_top else line)
        return found


def _holds_parts(value: Any) -> bool:
    if isinstance(value, list | tuple | dict):
        return any(map(_holds_parts, parts_of(value).values()))
    return is_part(value)


def _dtypes(layer: Any) -> str:
    dtypes = sorted({str(parameter.value.dtype) for _, parameter in named_parameters(layer)})
    return f" of {', '.join(dtypes)}" if dtypes else ""


def _settings(layer: Any) -> str:
    """The attributes that are plain values, `(p=0.1)`, and of arrays the shapes."""
    known = {key: _plain(value) for key, value in vars(layer).items() if not key.startswith("_")}
    text = ", ".join(f"{key}={value}" for key, value in known.items() if value)
    if len(text) > SETTINGS:
        text = f"{text[: SETTINGS - 1]}…"
    return f"({text})" if text else ""


def _plain(value: Any) -> str:
    """A number, string or array as text; nothing for what is no setting."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{value.dtype} {value.shape}"
    if isinstance(value, np.generic | np.ndarray):
        value = value.item()
    if isinstance(value, list | tuple) and value:
        inside = [_plain(part) for part in value]
        return f"({', '.join(inside)})" if all(inside) else ""
    return repr(value) if value is None or isinstance(value, bool | int | float | complex | str) else ""
