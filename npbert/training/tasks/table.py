"""Labelled files: their form, and the values of every row, with errors for columns that cannot be what the task
reads."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from npbert.data import read_table
from npbert.data.task_files import DELIMITER
from npbert.io import FileError, Place, Setting, Settings, Wanted, at_least, listed, one_of, setting
from npbert.io.settings import ANY
from npbert.models import LOSSES, POOLINGS

_TOO_MANY = 100


class Labelled(NamedTuple):
    """A row of a labelled file: the given value, for example a text; the target, the right answer; and its weight in
    the loss. An example is a row with its encoding, the model's input."""

    given: Any
    target: Any
    weight: float = 1.0
    encoding: Any = None


@dataclass(frozen=True, kw_only=True)
class TaskSettings(Settings):
    """The form of a file of labelled examples, and its tokens.

    Raises: InputError for an impossible value.
    """

    task: str = setting(
        "classification",
        "classification, regression, multiple-choice, tagging, pos, squad or vectors; other names such as "
        "ner, sts or qa also work",
        value="TASK",
    )
    text: str = setting(
        "0",
        "the column of the text: its number, counted from 0, or its name; if files differ, several names with "
        "commas, such as sentence,content",
        value="COLUMN",
    )
    text_pair: str = setting("", "the column of the second text of a pair (for vectors by default 1)", value="COLUMN")
    negatives: tuple[str, ...] = setting(
        (), "for vectors: the columns of texts that do not match the first", value="COLUMN"
    )
    prompts: tuple[str, ...] = setting(
        (),
        "for vectors: the prompts before the first text and before the others, such as 'query: ' 'passage: '",
        wanted=Wanted("at most 2: for the first text, and for the others", lambda prompts: len(prompts) <= 2),
    )
    pooling: str = setting(
        "",
        "for vectors: how to pool the token vectors (default: the folder's, or mean)",
        value="HOW",
        wanted=one_of(("", *POOLINGS)),
    )
    loss: str = setting(
        "",
        "for vectors: in-batch (all other texts of a batch are wrong answers), both-ways (also from each text to the "
        "first) or triplet; with scores as labels, cosent or cosine",
        value="LOSS",
        wanted=one_of(("", *LOSSES)),
    )
    choices: tuple[str, ...] = setting((), "for multiple choice: the columns of the choices", value="COLUMN")
    label: str = setting(
        "", "the column of the label (default: 1), or for tagging of the tag (default: the last)", value="COLUMN"
    )
    delimiter: str = setting(
        "",
        "the separator of columns: tab (quotes are then part of the text), comma or semicolon (default: comma for "
        ".csv, else tab)",
        wanted=DELIMITER,
    )
    first_row: str = setting(
        "",
        "the first row, if columns are given as numbers: header or example (default: detect it, or stop)",
        value="WHAT",
        wanted=one_of(("", "header", "example")),
    )
    sample_weight: str = setting(
        "",
        "for classification: the column of the examples' weights in the loss (default: 1 each)",
        value="COLUMN",
    )
    positive: str = setting(
        "", "for classification: the label of the f1 score (default: the second of two)", value="LABEL"
    )
    max_length: int = setting(
        0,
        "read at most this many tokens of an example; 384 is usual for squad; 0: in training 128, or the model's limit "
        "if that is smaller, and in an evaluation as in training",
        wanted=Wanted("0 or at least 8", lambda value: value == 0 or at_least(8).holds(value)),
    )
    batch_size: int = setting(32, "the number of examples in a batch", wanted=at_least(1))


TEXT = Wanted("a text", lambda text: bool(text.strip()))
LABEL = TEXT._replace(words="a label")
NUMBER = Wanted("a number", lambda text: math.isfinite(float(text)))
COSINE = Wanted("a cosine, between -1 and 1", lambda text: abs(float(text)) <= 1)
WEIGHT = Wanted("a number from 0 on", lambda text: 0 <= float(text) < math.inf)


def known_label(labels: Sequence[str]) -> Wanted:
    """One of the labels of the training file."""
    return Wanted(f"one of the training labels: {listed(labels)}", labels.__contains__)


def read_rows(
    path: str,
    settings: TaskSettings,
    label: Wanted,
    texts: Sequence[str] = ("text", "text_pair"),
    *,
    wanted: Wanted = ANY,
    number: type = str,
    second: str = "label",
) -> list[Labelled]:
    """Return the rows of a table: a text, or a tuple of several, with its label and its weight.

    label: the values of the label. number: its type as the target, which is 0 without a column of labels. texts: the
    settings that name the columns of the texts, whose values are `wanted`. second: the setting whose column is 1 unless
    given.

    Raises: FileError with the line for a file that is no table, a value that its column cannot have, and a first row
    that seems to name the columns; OSError.
    """
    values_of = {"label": label, **dict.fromkeys(texts, wanted), "sample_weight": WEIGHT}
    columns = []  # each as the setting that names it, and its name or number
    for owner in values_of:
        column = getattr(settings, owner) or ("1" if owner == second else ())
        columns += [(owner, name) for name in ([column] if isinstance(column, str) else column)]
    owners, names = zip(*columns, strict=True)
    is_header = settings.first_row == "header"
    table = read_table(path, names, delimiter=settings.delimiter, header=is_header)
    hint = ""
    if all(map(str.isdigit, names)) and not settings.first_row:
        header, example = (Setting("first_row", what) for what in ("header", "example"))
        hint = f"; if this row has the names of the columns, give {header}; if it is an example, {example}"
        first, *others = (row.values[0] for row in table)
        is_alone = first not in others and len(set(others)) < len(others)  # while others occur more than once
        if label is LABEL and is_alone and not NUMBER.allows(first):
            raise FileError(f"{table[0].place}: no other row has the label {first!r}{hint}")
    rows = []
    for values, place in table:
        for owner, value in zip(owners, values, strict=True):
            if not values_of[owner].allows(value):
                says = f"the {owner.replace('_', ' ')} is {listed([value])}, wanted {values_of[owner].words}"
                raise FileError(f"{place}: {says}{hint if place is table[0].place else ''}")
        given = list(values)
        target = number(given.pop(0)) if "label" in owners else 0.0
        weight = float(given.pop()) if settings.sample_weight else 1.0
        rows.append(Labelled(tuple(given) if given[1:] else given[0], target, weight))
    return rows


def find_labels(names: Sequence[str], path: str) -> tuple[str, ...]:
    """Return each name once, in alphabetical order, or if all are whole numbers, by size.

    Raises: FileError for more than a hundred, nearly all different.
    """
    are_whole = all(re.fullmatch(r"-?[0-9]+", name) for name in names)
    known = tuple(sorted(set(names), key=int if are_whole else None))
    if len(known) > _TOO_MANY and 2 * len(known) > len(names):
        says = f"{len(known):,} different labels for {len(names):,} examples are too many: {listed(known)}"
        raise FileError(f"{Place(path)}: {says}; {Setting('label')} names the column of the labels")
    return known
