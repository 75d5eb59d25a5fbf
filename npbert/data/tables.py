"""Tables of labelled text: TSV, CSV and JSON lines, with errors that give file and line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from npbert.files import FileError, read_text

DELIMITERS = {"tab": "\t", "comma": ","}
_JSON_ENDINGS = (".jsonl", ".json", ".ndjson")


class Row(NamedTuple):
    """The chosen values of a row, and where it stands: `file, line 7`."""

    values: tuple[str, ...]
    place: str


def read_table(path: str | Path, columns: Sequence[str], *, delimiter: str = "") -> list[Row]:
    """The values in `columns` of every row of a file.

    columns: a number, from 0, or a name: with a name among them, the first line of the file names the columns.
    delimiter: `tab`, where quotes are text like any other, or `comma`, where they may enclose a value; by default comma
    for .csv, and tab for all else. In .jsonl, .json and .ndjson every line is a JSON object, and columns are names.

    Raises: FileError that gives file and line for a row with too few columns, or a line that is no JSON object, and
    for a column that there is not, an empty file, or text that is not UTF-8; ValueError for another delimiter; OSError.
    """
    path = Path(path)
    if delimiter and delimiter not in DELIMITERS:
        raise ValueError(f"delimiter is {delimiter!r}, wanted tab or comma")
    text = read_text(path)
    if path.suffix in _JSON_ENDINGS and not delimiter:
        rows = list(_json_rows(path, text, columns))
    else:
        by_comma = delimiter == "comma" or (not delimiter and path.suffix == ".csv")
        rows = list(_delimited_rows(path, text, columns, by_comma=by_comma))
    if not rows:
        raise FileError(f"{path} is empty: it has no rows")
    return rows


def _delimited_rows(path: Path, text: str, columns: Sequence[str], *, by_comma: bool) -> Iterator[Row]:
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    dialect: Any = {"delimiter": ","} if by_comma else {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    reader = csv.reader((f"{line}\n" for line in lines), strict=True, **dialect)
    numbers: list[int] | None = None if any(not column.isdigit() for column in columns) else list(map(int, columns))
    try:
        for cells in reader:
            place = f"{path}, line {reader.line_num}"
            if numbers is None:
                numbers = [_number_of(column, cells, place) for column in columns]
            elif len(cells) <= max(numbers):
                if cells:
                    hint = " (separated by tabs? --delimiter tab)" if by_comma and "\t" in cells[0] else ""
                    raise FileError(f"{place}: {len(cells)} columns, wanted at least {max(numbers) + 1}{hint}")
            else:
                yield Row(tuple(cells[number] for number in numbers), place)
    except csv.Error as error:
        raise FileError(f"{path}, line {reader.line_num}: {error}") from error


def _number_of(column: str, header: list[str], place: str) -> int:
    if column.isdigit():
        return int(column)
    if column not in header:
        raise FileError(f"{place}: there is no column {column!r}, only {', '.join(map(repr, header))}")
    return header.index(column)


def _json_rows(path: Path, text: str, columns: Sequence[str]) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            cells: Any = json.loads(line)
        except json.JSONDecodeError as error:
            raise FileError(f"{place}: no valid JSON: {error.msg}") from error
        missing = [column for column in columns if not isinstance(cells, dict) or cells.get(column) is None]
        if missing:
            raise FileError(f"{place}: wanted a JSON object with {', '.join(map(repr, missing))}")
        yield Row(tuple(str(cells[column]) for column in columns), place)
