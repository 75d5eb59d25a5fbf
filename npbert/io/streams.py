"""Standard input and output, or files in their place: texts, one on each line, and results as lines of JSON."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from npbert.io.errors import STANDARD_INPUT, Place
from npbert.io.files import FileError, decode, naming, read_stream, read_text, write_where_asked
from npbert.io.json_lines import finite_or_null
from npbert.io.messages import CONTROL, LOGGER

JSON_LINES = (".jsonl", ".ndjson", ".json")
"""The endings of a file of JSON lines."""


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


def _line(row: Any, digits: int) -> bytes:
    text = json.dumps(finite_or_null(row, digits=digits), ensure_ascii=False)
    escaped = CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    return f"{escaped}\n".encode()
