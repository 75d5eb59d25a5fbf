"""Layers and what they keep on a tape as text, for print and for errors."""

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterable
from types import FrameType
from typing import Any

import numpy as np

from npbert.shown import Row, Sheet


def describe_parts(parts: Iterable[tuple[str, Any]]) -> Sheet:
    """A row for each layer among the named parts: its path, its settings, how many numbers it learns, their shapes.

    Equal layers of a list share a row, `layers.*: 12 × EncoderLayer`. A shared parameter counts where it is first.
    """
    named = list(parts)
    parameters = {path: part.value for path, part in named if _is_parameter(part)}
    dtypes = ", ".join(sorted({str(value.dtype) for value in parameters.values()}))
    rows: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for path, part in named:
        if not _is_parameter(part):
            below = f"{path}." if path else ""
            count = sum(value.size for name, value in parameters.items() if name.startswith(below))
            learned = f"{count:,} parameters{'' if path else f' of {dtypes}'}" if count else ""
            cells = tuple(filter(None, [type(part).__name__ + _settings(part), learned, _shapes(part)]))
            rows[re.sub(r"\b\d+\b", "*", path), cells] += 1
    (((_, whole), _), *rest) = rows.items()
    several = [Row(path, (f"{f'{n} × ' * (n > 1)}{kind}", *more)) for (path, (kind, *more)), n in rest]
    return Sheet("  ".join(whole), rows=several)


def describe_layer(layer: Any) -> str:
    """A layer by the shapes of its parameters: `Linear (weight (3, 4), bias (4,))`."""
    shapes = _shapes(layer)
    return f"{type(layer).__name__} ({shapes})" if shapes else type(layer).__name__


def outermost_layer() -> Any:
    """The layer whose forward was called first, of all that are under way."""
    frame: FrameType | None = sys._getframe(1)
    layer = None
    while frame is not None:
        caller = frame.f_locals.get("self")
        layer = caller if hasattr(type(caller), "forward") else layer
        frame = frame.f_back
    return layer


def describe_entry(layer: Any, values: tuple[Any, ...]) -> str:
    """An entry of a tape, for an error: `Linear (weight (3, 4), bias (4,)) kept: x (5, 3)`."""
    return f"{describe_layer(layer)} kept: {describe_kept(layer, values)}"


def describe_kept(layer: Any, values: tuple[Any, ...]) -> str:
    """The values as `x (5, 8)`, by the names that stand in the layer's `tape.keep(self, x)`, where that can be read."""
    try:
        source = "".join(
            map(inspect.getsource, type(layer).__mro__[:-1])
        )  # of those too that forward is inherited from
        calls = re.findall(r"tape\.keep\(self, ([\w., ]+)\)", source)
    except (OSError, TypeError):
        calls = []
    names = next((names for names in (call.split(", ") for call in calls) if len(names) == len(values)), None)
    if names is None:
        return ", ".join(map(_describe, values))
    return ", ".join(f"{name} {_describe(value)}" for name, value in zip(names, values, strict=True))


def _is_parameter(part: Any) -> bool:
    return hasattr(part, "add_grad")


def _shapes(layer: Any) -> str:
    parts = getattr(layer, "__dict__", {}).items()
    return ", ".join(f"{name} {part.value.shape}" for name, part in parts if _is_parameter(part))


def _settings(layer: Any) -> str:
    """The attributes that are plain values, `(p=0.1)`, and of arrays the shapes."""
    known = []
    for name, value in vars(layer).items():
        if isinstance(value, np.ndarray) or (isinstance(value, bool | int | float | str) and name[0] != "_"):
            known.append(f"{name}={value.shape if isinstance(value, np.ndarray) else repr(value)}")
    return f"({', '.join(known)})" if known else ""


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(value.shape)
    is_tuple = isinstance(value, tuple) and not hasattr(value, "_fields")
    if isinstance(value, list) or (is_tuple and any(isinstance(item, np.ndarray) for item in value)):
        return f"[{', '.join(map(_describe, value))}]"
    return str(value) if value is None or is_tuple or isinstance(value, bool | np.dtype) else type(value).__name__
