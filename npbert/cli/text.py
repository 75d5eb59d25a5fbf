"""Text in, a line a text, and results out, as JSON lines or an array."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.files import FileError, atomic_write, decode

STANDARD_INPUT = "-"


def name_of(path: str) -> str:
    """What an error calls the file."""
    return "standard input" if path == STANDARD_INPUT else path


def read_all(path: str) -> str:
    """The text of a file, or of standard input for `-`.

    Raises: FileError when it is empty or not UTF-8; OSError for a file that is not there or cannot be read.
    """
    try:
        read = sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
    except FileNotFoundError as error:
        wanted = "wanted a file of text, or the text on standard input"
        raise FileNotFoundError(error.errno, f"{error.strerror}; {wanted}", path) from error
    text = decode(read, name_of(path))
    if not text.strip():
        raise FileError(f"{name_of(path)} is empty: there is no text to work on")
    return text


def read_lines(path: str) -> list[str]:
    """The lines, without their ends; an empty line among them is an empty text. Raises: as read_all."""
    return [line.removesuffix("\r") for line in read_all(path).removesuffix("\n").split("\n")]


def check_output(path: str | None) -> None:
    """Raise FileNotFoundError when there is no folder to write `path` in: better now than after all the work."""
    if path is not None and not Path(path).parent.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def write_json_lines(rows: Iterable[Any], path: str | None) -> None:
    """Write a line of JSON a row to a file, which is whole or not there at all, or to standard output."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if path is None:
        sys.stdout.buffer.writelines(line.encode() for line in lines)  # JSON is UTF-8, whatever the terminal is
        return
    with atomic_write(Path(path)) as written, written.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def write_array(array: Array, path: str) -> None:
    """Write a .npy file, which is whole or not there at all."""
    with atomic_write(Path(path)) as written, written.open("wb") as file:
        np.save(file, array)
