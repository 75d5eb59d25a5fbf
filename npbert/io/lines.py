"""Files of lines: texts, one on each line, from a file or standard input; results as lines of JSON, to a file or
standard output; and rows of JSON, each with its step, that a run appends to."""

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from npbert.io.errors import STANDARD_INPUT, Place
from npbert.io.files import (
    FileError,
    as_file_error,
    atomic_write,
    decode,
    naming,
    read_stream,
    read_text,
    write_where_asked,
)
from npbert.io.messages import CONTROL, LOGGER, warn

JSON_LINES = (".jsonl", ".ndjson", ".json")
"""The endings of a file of JSON lines."""

METRICS_FILE, LAYERS_FILE, SHOWN_FILE = "metrics.jsonl", "layers.jsonl", "shown.jsonl"
"""The files of rows in a run's folder: metrics, numbers of each layer, and sample predictions."""


def read_all(path: str | Path, *, may_be_blank: bool = False) -> str:
    """Return the text of a file, or of standard input for `-`. At a keyboard, print that the command waits.

    may_be_blank: accept a text of spaces alone, as a table may be.

    Raises: FileError if it is empty, not UTF-8, or a stream of more than 256 MiB; OSError if it cannot be read.
    """
    if path != STANDARD_INPUT:
        text = read_text(Path(path))
    elif sys.stdin is None:  # closed before the program began
        raise FileError("standard input is closed, wanted text in it or in a FILE")
    else:
        if sys.stdin.buffer.isatty():
            ends = "Ctrl-D (on Windows, Ctrl-Z and Enter)"
            LOGGER.info("reading from the keyboard: type a text on each line, and end with %s", ends)
        with naming(Path("standard input")):
            text = decode(read_stream(sys.stdin.buffer, "standard input"), Place(path))
    LOGGER.debug("read %s: %d characters", Place(path), len(text))
    if not (text if may_be_blank else text.strip()):
        raise FileError(f"{Place(path)} is empty, wanted text")
    return text


def read_lines(path: str | Path, *, may_be_blank: bool = False) -> list[str]:
    """Return the lines without their ends. An empty line is an empty text. Arguments and errors: as read_all."""
    text = read_all(path, may_be_blank=may_be_blank).removesuffix("\n")
    return [line.removesuffix("\r") for line in text.split("\n")]


def read_texts(path: str, wanted: str) -> list[list[str]]:
    """Return the one or two parts of each line, split at a tab. Raises: as read_all; FileError for more parts.

    wanted: the expectation in that error"""
    rows = [line.split("\t") for line in read_lines(path)]
    for number, parts in enumerate(rows, start=1):
        if len(parts) > 2:
            raise FileError(f"{Place(path, number)}: {len(parts)} {wanted}")
    return rows


def write_json_lines(rows: Iterable[Any], path: str = "") -> None:
    """Write each row as a line of JSON, to a file (whole or not at all) or to standard output.

    Floats are rounded, as a float64 from a float32 would show 16 digits: to every bit of a float32, or for a reader at
    a terminal, to 4 digits. Floats that are not finite become null.
    """
    digits = 4 if not path and sys.stdout.isatty() else 9

    lines = (_line(row, digits) for row in rows)
    if path:
        write_where_asked(path, lines)
    else:
        sys.stdout.buffer.writelines(lines)  # JSON is UTF-8, on every terminal


def _line(row: Any, digits: int = 17) -> bytes:
    text = json.dumps(finite_or_null(row, digits), ensure_ascii=False)
    escaped = CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    return f"{escaped}\n".encode()


def drop_rows(path: Path, *, after_step: int) -> None:
    """Drop the rows of a file after a step, as of a run that was killed after its last saved state.

    Raises: FileError with file and line for a line that is not a row; OSError.
    """
    with atomic_write(path) as written, written.open("wb") as file:
        file.writelines(_line(row) for row in read_json_lines(path, most=sys.maxsize) if row["step"] <= after_step)


def append_row(path: Path, step: int, row: Mapping[str, Any], *, sync: bool) -> None:
    """Append a row, unless it is empty. Of a row that a kill cuts, nothing is read. Numbers that are not finite become
    null.

    sync: sync all rows to the disk.
    Raises: OSError with the file, also for a full disk.
    """
    with naming(path), path.open("ab") as file:
        if row:
            file.write(_line({"step": step, **row}))
        if sync:
            file.flush()
            os.fsync(file.fileno())


def read_json_lines(path: Path, *, most: int = 5000) -> list[dict[str, Any]]:
    """Return the rows of the complete lines of a file, or none without a file.

    most: of rows with the same names, as many as a picture can show side by side. The last one in each of so many equal
    parts of the steps is read, with a warning if others are left out.
    Raises: FileError with file and line for a line that is not a row; OSError.
    """
    *complete, _ = path.read_bytes().split(b"\n") if path.is_file() else [b""]
    rows = []
    for number, line in enumerate(complete, start=1):
        says = f"{path}, line {number} is not a row of numbers with its step"
        with as_file_error(says, Exception):  # whatever else the JSON is
            row = json.loads(line)
            rows.append({"step": int(row.pop("step")), **row})
    if len(rows) <= most:
        return rows
    width = max(1, max(row["step"] for row in rows) / most)
    read = {(*row, row["step"] // width): row for row in rows}
    if len(read) < len(rows):
        warn(f"{path} has {len(rows):,} rows, too many to draw: {len(read):,} of them are read")
    return list(read.values())


def finite_or_null(value: Any, digits: int = 17) -> Any:
    """Return a value for JSON: named tuples as objects, floats rounded to so many digits, by default to none less, and
    None, JSON's null, for one that is not finite."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: finite_or_null(each, digits) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite_or_null(each, digits) for each in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
