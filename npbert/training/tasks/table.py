"""Labelled tables: the values of every row, with errors for columns that cannot be what the task reads."""

import math
import re
from collections.abc import Mapping, Sequence

from npbert.data import read_table
from npbert.io import FileError, Place, Sentence, Setting, Wanted, listed
from npbert.training.tasks.task import TaskSettings

_TOO_MANY = 100


def is_number(text: str) -> bool:
    """True for the text of a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _is_full(text: str) -> bool:
    return bool(text.strip())


ANY = Wanted("a text, perhaps empty", lambda text: True)
TEXT, LABEL = Wanted("a text", _is_full), Wanted("a label", _is_full)
NUMBER = Wanted("a number", is_number)
COSINE = Wanted("a cosine, between -1 and 1", lambda text: is_number(text) and abs(float(text)) <= 1)
WEIGHT = Wanted("a number from 0 on", lambda text: is_number(text) and float(text) >= 0)


def known_label(labels: Sequence[str]) -> Wanted:
    """One of the labels of the training file."""
    return Wanted(f"one of the training labels: {listed(labels)}", labels.__contains__)


def read_rows(path: str, settings: TaskSettings, wanted: Mapping[str, Wanted], second: str) -> list[tuple[str, ...]]:
    """Return the rows of a table: a value for each column that the settings name.

    wanted: the settings that name columns, the label first, each with the values of its columns. second: the setting
    whose column is 1 unless given.

    Raises: FileError with the line for a file that is no table, a value that its column cannot have, and a first row
    that seems to name the columns; OSError.
    """
    names: list[str] = []  # of the columns, or their numbers
    owners: list[str] = []  # the setting of each
    for setting in wanted:
        given = getattr(settings, setting) or ("1" if setting == second else ())
        chosen = [given] if isinstance(given, str) else given
        names += chosen
        owners += [setting] * len(chosen)
    is_header = settings.first_row == "header"
    rows = read_table(path, names, delimiter=settings.delimiter, header=is_header)
    hint: Sentence = ""
    if all(map(str.isdigit, names)) and not settings.first_row:
        header, example = (Setting("first_row", what) for what in ("header", "example"))
        hint = "if this row has the names of the columns, give ", header, "; if it is an example, ", example
        first, *others = (row.values[0] for row in rows)
        is_alone = first not in others and len(set(others)) < len(others)  # while others occur more than once
        if wanted["label"] is LABEL and is_alone and not is_number(first):
            raise FileError(f"no other row has the label {first!r}", where=rows[0].place, hint=hint)
    for row in rows:
        for setting, value in zip(owners, row.values, strict=True):
            if not wanted[setting].holds(value):
                says, words = f"the {setting.replace('_', ' ')} is {listed([value])}", wanted[setting].words
                raise FileError(says, wanted=words, where=row.place, hint=hint if row is rows[0] else "")
    return [row.values for row in rows]


def find_labels(names: Sequence[str], path: str) -> tuple[str, ...]:
    """Return each name once, in alphabetical order, or if all are whole numbers, by size.

    Raises: FileError for more than a hundred, nearly all different.
    """
    are_whole = all(re.fullmatch(r"-?[0-9]+", name) for name in names)
    known = tuple(sorted(set(names), key=int if are_whole else None))
    if len(known) > _TOO_MANY and 2 * len(known) > len(names):
        says = f"{len(known):,} different labels for {len(names):,} examples are too many: {listed(known)}"
        raise FileError(says, where=Place(path), hint=(Setting("label"), " names the column of the labels"))
    return known
