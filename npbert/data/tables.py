"""Tables of labelled text: TSV, CSV and JSON lines, with errors that give file and line."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from npbert.io import (
    JSON_LINES,
    FileError,
    Place,
    Sentence,
    Setting,
    counted,
    listed,
    one_of,
    parse_json,
    read_lines,
)

DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";"}
DELIMITER = one_of(("", *DELIMITERS))
_OTHER_DELIMITER: Sentence = ("for columns with another character between them, give ", Setting("delimiter"))


TABLE_ENDINGS = (".tsv", ".csv", *JSON_LINES)
"""Endings of files that are nearly always tables."""


class TableRow(NamedTuple):
    """The chosen values of a row, and its file and last line."""

    values: tuple[str, ...]
    place: Place


def read_table(
    path: str | Path, columns: Sequence[str], *, delimiter: str = "", header: bool = False
) -> list[TableRow]:
    """Return the values in `columns` of every row of a file, or of standard input for `-`.

    columns: each is a number, from 0, a name, or several names with commas, one of them in the file
    (`sentence,content`). With a name among them, the first line of the file names the columns.
    delimiter: `tab`, with quotes as ordinary text, or `comma` or `semicolon`, with quotes around a value; by default
    comma for .csv, otherwise tab. In .jsonl, .json and .ndjson every line is a JSON object, and columns are names.
    header: the first line names the columns even if they are given as numbers.

    Raises: FileError that gives file and line for a row without one of the columns, or of a CSV with more or fewer than
    the first, or a line that is not a JSON object, and for an empty file, or text that is not UTF-8; ValueError for
    another delimiter; OSError.
    """
    DELIMITER.check("delimiter", delimiter)
    ending = Path(path).suffix
    if ending in JSON_LINES and not delimiter:
        rows = json_rows(path, columns)
    else:
        by = DELIMITERS[delimiter or ("comma" if ending == ".csv" else "tab")]
        rows = list(_rows(path, columns, by, header=header or not all(map(str.isdigit, columns))))
    if not rows:
        raise FileError(f"{Place(path)} is empty, wanted rows")
    return rows


def json_rows(path: str | Path, columns: Sequence[str], *, hint: str = "") -> list[TableRow]:
    """Return the values in `columns` of every line of JSON. hint: the fix in errors. Raises: as read_table."""
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            place = Place(path, number)
            cells = parse_json(line, place)
            if not isinstance(cells, dict):
                raise FileError(f"it is a JSON {type(cells).__name__}", wanted="an object", where=place, hint=hint)
            rows.append(_chosen(cells, columns, place, hint))
    return rows


def _rows(path: str | Path, columns: Sequence[str], by: str, *, header: bool) -> Iterator[TableRow]:
    """Yield the values in `columns`, by the names in the `header` and by their numbers."""
    csv.field_size_limit(2**31 - 1)  # no limit
    dialect: Any = {"delimiter": by, "quoting": csv.QUOTE_NONE if by == "\t" else csv.QUOTE_MINIMAL}
    reader = csv.reader((f"{line}\n" for line in read_lines(path, may_be_blank=True)), strict=True, **dialect)
    width, names = 0, list[str]()
    try:
        for row in filter(None, reader):
            place = Place(path, reader.line_num)
            width = width or len(row)
            if header and not names:
                names = row
                continue
            if by != "\t" and len(row) != width:
                hint = f"put a value with {by} in it in quotes"
                raise FileError(counted(len(row), "column"), wanted=f"{width}, as above", where=place, hint=hint)
            by_number = {str(number): cell for number, cell in enumerate(row)}
            cells = {**dict(zip(names, row, strict=False)), **by_number}
            yield _chosen(cells, columns, place, "" if len(row) > 1 else _OTHER_DELIMITER)
    except csv.Error as error:
        raise FileError(str(error), where=Place(path, reader.line_num)) from error


def _chosen(cells: Mapping[str, Any], columns: Sequence[str], place: Place, hint: Sentence) -> TableRow:
    """Return the values in `columns`. A column may have several names with commas, one of them in the row."""
    known = {name: value for name, value in cells.items() if value is not None}
    values = []
    for column in columns:
        name = next((name for name in (column, *column.split(",")) if name in known), None)
        if name is None:
            says = f"column {' or '.join(map(repr, column.split(',')))} is missing"
            names = [name for name in known if not name.isdigit()] or known
            raise FileError(says, wanted=f"one of {listed(names)}", where=place, hint=hint)
        if isinstance(known[name], list | dict):
            raise FileError(f"{name!r} is a list or an object, wanted a text or a number", where=place)
        values.append(str(known[name]))
    return TableRow(tuple(values), place)
