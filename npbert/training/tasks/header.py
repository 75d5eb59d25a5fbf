"""The first row of a table whose columns have numbers: is it an example, or does it name the columns?"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Sequence

from npbert.data.tables import Row
from npbert.files import FileError

FIRST_ROWS = ("", "header", "example")
_LONGEST_NAME = 40
_USUAL_NAMES = {"label", "labels", "gold_label", "class", "category", "target", "score", "quality", "is_duplicate"}


def is_unlike_the_others(labels: Sequence[str]) -> bool | None:
    """Whether the first label is of another kind than all others; None where that cannot be told, but it is alone.

    It is when it stands in the first row alone, is no number, and the others are numbers, or come more than once each,
    or it is what such columns are usually called. A file in which no label comes twice says nothing.
    """
    first, *others = labels
    if not others or first in others or is_number(first):
        return False
    counts = Counter(others)
    if first.lower() in _USUAL_NAMES or all(map(is_number, counts)) or min(counts.values()) > 1:
        return True
    return None if len(counts) < len(others) else False


def without_header(rows: Sequence[Row]) -> list[Row]:
    """The rows without the first, which names the columns. Raises: FileError when it has a label as an example has."""
    first, *others = rows
    label = first.values[0]
    if is_number(label) or label in {row.values[0] for row in others}:
        raise FileError(f"{first.place}: first_row is header, but this row is an example, with the label {label!r}")
    if not others:
        raise FileError(f"{first.path} is empty: it has no rows but the names of the columns")
    return others


def how_to_say(row: Row, columns: Sequence[tuple[str, str]]) -> str:
    """What to give when `row` names the columns, and what when it is an example.

    columns: (setting, column) for each value of the row
    """
    names: dict[str, list[str]] = {}
    for (setting, _), value in zip(columns, row.values, strict=True):
        names.setdefault(setting, []).append(value)
    header = "--first-row header"
    if all(0 < len(value) <= _LONGEST_NAME for value in row.values):
        options = [f"--{name.replace('_', '-')} {shlex.join(values)}" for name, values in names.items()]
        header = f"{' '.join(options)}, or {header}"
    return f"if this row names the columns, give {header}; if it is an example, --first-row example"


def is_number(text: str) -> bool:
    """Whether the text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
