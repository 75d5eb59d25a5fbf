"""Tables of labelled text: TSV, CSV and JSON lines, with errors that give file and line."""

import csv
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from npbert.io.errors import Place, Sentence, Setting, one_of
from npbert.io.files import FileError, parse_json, read_text
from npbert.io.messages import counted, listed

DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";"}
DELIMITER = one_of(("", *DELIMITERS))
_JSON_ENDINGS = (".jsonl", ".json", ".ndjson")
_OTHER_DELIMITER: Sentence = ("for columns with another character between them, give ", Setting("delimiter"))


TABLE_ENDINGS = (".tsv", ".csv", *_JSON_ENDINGS)
"""Endings of files that are nearly always tables."""


class TableRow(NamedTuple):
    """The chosen values of a row, and its file and last line."""

    values: tuple[str, ...]
    place: Place


def read_table(
    path: str | Path, columns: Sequence[str], *, delimiter: str = "", header: bool = False, text: str | None = None
) -> list[TableRow]:
    """Return the values in `columns` of every row of a file.

    columns: each is a number, from 0, a name, or several names with commas, one of them in the file
    (`sentence,content`). With a name among them, the first line of the file names the columns.
    delimiter: `tab`, with quotes as ordinary text, or `comma` or `semicolon`, with quotes around a value; by default
    comma for .csv, otherwise tab. In .jsonl, .json and .ndjson every line is a JSON object, and columns are names.
    header: the first line names the columns even if they are given as numbers.
    text: the content of the file, if it is already read; `path` is then only a name.

    Raises: FileError that gives file and line for a row with too few columns, or of a CSV with more or fewer than the
    first, or a line that is not a JSON object, and for a column that there is not, an empty file, or text that is not
    UTF-8; ValueError for another delimiter; OSError.
    """
    DELIMITER.check("delimiter", delimiter)
    text, path, ending = read_text(Path(path)) if text is None else text, str(path), Path(path).suffix
    if ending in _JSON_ENDINGS and not delimiter:
        rows = json_rows(path, text, columns)
    else:
        by = DELIMITERS[delimiter or ("comma" if ending == ".csv" else "tab")]
        rows = list(_delimited_rows(path, text, columns, by, header=header))
    if not rows:
        raise FileError(f"{path} is empty, wanted rows")
    return rows


def _delimited_rows(path: str, text: str, columns: Sequence[str], by: str, *, header: bool) -> Iterator[TableRow]:
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # for the whole process: never reduced
    dialect: Any = {"delimiter": by, "quoting": csv.QUOTE_NONE if by == "\t" else csv.QUOTE_MINIMAL}
    reader = csv.reader((f"{line}\n" for line in lines), strict=True, **dialect)
    numbers = list(map(int, columns)) if not header and all(map(str.isdigit, columns)) else None
    width = 0
    try:
        for cells in filter(None, reader):
            place = Place(path, reader.line_num)
            width = width or len(cells)
            if numbers is None:
                numbers = [_number_of(column, cells, place) for column in columns]
            elif len(cells) <= max(numbers):
                wanted = f"at least {max(numbers) + 1}"
                raise FileError(counted(len(cells), "column"), wanted=wanted, where=place, hint=_OTHER_DELIMITER)
            elif by != "\t" and len(cells) != width:
                hint = f"put a value with {by} in it in quotes"
                raise FileError(counted(len(cells), "column"), wanted=f"{width}, as above", where=place, hint=hint)
            else:
                yield TableRow(tuple(cells[number] for number in numbers), place)
    except csv.Error as error:
        raise FileError(str(error), where=Place(path, reader.line_num)) from error


def _number_of(column: str, header: list[str], place: Place) -> int:
    if column.isdigit():
        return int(column)
    name = _one_of(column, header)
    if name is None:
        says, hint = f"column {_named(column)} is missing", _OTHER_DELIMITER if len(header) == 1 else ""
        raise FileError(says, wanted=f"one of {listed(header)}", where=place, hint=hint)
    return header.index(name)


def _one_of(column: str, names: Container[str]) -> str | None:
    """Return the name in the file that `column` means."""
    return next((name for name in (column, *column.split(",")) if name in names), None)


def _named(column: str) -> str:
    return " or ".join(map(repr, column.split(",")))


def json_rows(path: str, text: str, columns: Sequence[str], *, hint: str = "") -> list[TableRow]:
    """Return the values in `columns` of every line of JSON. hint: the fix in errors. Raises: as read_table."""
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = Place(path, number)
            cells = parse_json(line, path, line=number)
            rows.append(TableRow(_values(cells, columns, place, hint), place))
    return rows


def _values(cells: Any, columns: Sequence[str], place: Place, hint: str) -> tuple[str, ...]:
    known = {name: value for name, value in cells.items() if value is not None} if isinstance(cells, dict) else {}
    names = [_one_of(column, known) for column in columns]
    missing = [_named(column) for column, name in zip(columns, names, strict=True) if name is None]
    if missing:
        says = f"wanted a JSON object with {', '.join(missing)}"
        raise FileError(f"{says}; it has {listed(known)}" if known else says, where=place, hint=hint)
    found = [known[name] for name in names if name is not None]
    for name, value in zip(names, found, strict=True):
        if isinstance(value, list | dict):
            raise FileError(f"{name!r} is a list or an object, wanted a text or a number", where=place)
    return tuple(map(str, found))
