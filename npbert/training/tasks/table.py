"""Labelled tables: which row is the first example, and which labels there are; refused where they cannot be labels."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence

from npbert.data.tables import TableRow, read_table
from npbert.io.errors import Place, Sentence, Setting
from npbert.io.files import FileError
from npbert.io.messages import MOST_NAMES, listed
from npbert.training.tasks.task import TaskSettings

Columns = Sequence[tuple[str, str]]
"""(setting, column) for each value that a row has."""

_LONGEST_NAME = 40
_USUAL_NAMES = {"label", "labels", "gold_label", "class", "category", "target", "score", "quality", "is_duplicate"}
_TOO_MANY = 100


def read_rows(path: str, settings: TaskSettings, columns: Columns) -> list[TableRow]:
    """The rows of a table, without its header, whose first value is the label.

    Raises: FileError for a file that cannot be read as a table, and when first_row is header, but the first row has a
    label as an example has; OSError.
    """
    names = [column for _, column in columns]
    rows = read_table(path, names, delimiter=settings.delimiter)
    if settings.first_row != "header" or not all(map(str.isdigit, names)):
        return rows
    first, *others = rows
    label = first.values[0]
    if is_number(label) or label in {row.values[0] for row in others}:
        but = f" is header, but this row is an example, with the label {label!r}"
        raise FileError((Setting("first_row"), but), where=first.place)
    if not others:
        raise FileError(f"{path} is empty: it has no rows but the names of the columns")
    return others


def may_be_header(index: int, settings: TaskSettings, columns: Columns) -> bool:
    """True if the row with this number could name the columns, for all that the settings say."""
    return index == 0 and not settings.first_row and all(column.isdigit() for _, column in columns)


def header_hint(index: int, row: TableRow, settings: TaskSettings, columns: Columns) -> Sentence:
    """The hint of an error about a row's label: what to give if the row names the columns, where it may do so."""
    return settings_for_header(row, columns) if may_be_header(index, settings, columns) else ""


def is_unlike_the_others(labels: Sequence[str]) -> bool | None:
    """True if the first label is of another kind than all others: not a number, and in the first row alone, where the
    others are numbers, or come more than once each, or it is what such columns are usually called. None where nothing
    tells, as some others come once, too; a file in which no label comes twice says nothing."""
    first, *others = labels
    if not others or first in others or is_number(first):
        return False
    counts = Counter(others)
    if first.lower() in _USUAL_NAMES or all(map(is_number, counts)) or min(counts.values()) > 1:
        return True
    return None if len(counts) < len(others) else False


def settings_for_header(row: TableRow, columns: Columns) -> Sentence:
    """What to give when `row` names the columns, and when it is an example."""
    names: dict[str, list[str]] = {}
    for (setting, _), value in zip(columns, row.values, strict=True):
        names.setdefault(setting, []).append(value)
    header, example = (Setting("first_row", (what,)) for what in ("header", "example"))
    by_name: list[str | Setting] = []
    if all(0 < len(value) <= _LONGEST_NAME for value in row.values):
        by_name = [part for name, values in names.items() for part in (Setting(name, tuple(values)), " ")]
        by_name[-1] = ", or "
    return ("if this row names the columns, give ", *by_name, header, "; if it is an example, ", example)


def is_number(text: str) -> bool:
    """True for the text of a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def find_labels(names: Sequence[str], path: str) -> tuple[str, ...]:
    """Each name once, in the order of the alphabet, or if all are whole numbers, of their size.

    Raises: FileError for more than a hundred, of which hardly one comes twice; for two that differ in white space.
    """
    bare: dict[str, str] = {}
    for name in sorted(set(names)):
        other = bare.setdefault(" ".join(name.split()), name)
        if other != name:
            says = f"the labels {listed([other, name])} are the same but for white space"
            raise FileError(says, where=Place(path))
    numeric = all(re.fullmatch(r"-?[0-9]+", name) for name in names)
    labels = tuple(sorted(set(names), key=int if numeric else None))
    if len(labels) > _TOO_MANY and 2 * len(labels) > len(names):
        raise FileError(
            f"{len(labels):,} different labels for {len(names):,} examples are too many to learn: {listed(labels)}",
            where=Place(path),
            hint=_hint(labels),
        )
    return labels


def number_of(label: str, labels: Sequence[str], place: Place | str) -> int:
    """The number of a label. Raises: FileError that gives its place when it is not one of `labels`."""
    if label in labels:
        return labels.index(label)
    says = f"the label {listed([label])} is none of those in training: {listed(labels)}"
    raise FileError(says, where=place, hint=_hint(labels))


def are_measures(labels: Collection[str]) -> bool:
    """True if the labels look like numbers that measure something: many, and not all of them whole."""
    return len(labels) > MOST_NAMES and all(map(is_number, labels)) and any("." in label for label in labels)


def _hint(labels: Collection[str]) -> Sentence:
    if len(labels) <= MOST_NAMES:
        return ""
    if all(map(is_number, labels)):
        return "numbers are learned with ", Setting("task", ("regression",))
    texts = 2 * sum(" " in label for label in labels) > len(labels)
    return "they look like texts: " * texts, Setting("label"), " says which column the labels are in"
