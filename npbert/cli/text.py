"""Text in, one on each line, and results out, as JSON lines or an array."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.files import FileError, atomic_write, check_writable, decode
from npbert.messages import LOGGER

STANDARD_INPUT = "-"
_C1 = re.compile("[\x7f-\x9f\ud800-\udfff]")  # what JSON may hold as it is, but no terminal, or no UTF-8, should


def name_of(path: str) -> str:
    """What an error calls the file."""
    return "standard input" if path == STANDARD_INPUT else path


def read_all(path: str) -> str:
    """The text of a file, or of standard input for `-`.

    Raises: FileError when it is empty or not UTF-8; OSError for a file that is not there or cannot be read.
    """
    try:
        read = _standard_input() if path == STANDARD_INPUT else Path(path).read_bytes()
    except FileNotFoundError as error:
        wanted = "wanted a file of text, or the text on standard input"
        raise FileNotFoundError(error.errno, f"{error.strerror}; {wanted}", path) from error
    LOGGER.debug("read %s: %d bytes", name_of(path), len(read))
    text = decode(read, name_of(path))
    if not text.strip():
        raise FileError(f"{name_of(path)} is empty: there is no text to work on")
    return text


def _standard_input() -> bytes:
    """All of it; somebody at a keyboard is told that it is being waited for."""
    if sys.stdin is None:  # closed before the program began
        raise FileError("standard input is closed: there is no text to work on, and no file was given")
    if sys.stdin.buffer.isatty():
        end = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"
        LOGGER.info("reading from the keyboard: a text on each line, end with %s", end)
    return sys.stdin.buffer.read()


def read_lines(path: str) -> list[str]:
    """The lines, without their ends; an empty line among them is an empty text. Raises: as read_all."""
    return [line.removesuffix("\r") for line in read_all(path).removesuffix("\n").split("\n")]


def check_output(path: str | None, read: str = STANDARD_INPUT) -> None:
    """Better now than after all the work: raise OSError when `path` cannot be written, and FileError when it is the
    file that is `read`."""
    if path is None:
        return
    check_writable(Path(path))
    if Path(path).is_file() and Path(read).is_file() and Path(path).samefile(read):
        raise FileError(f"--output is {path}, the file that the texts are read from: it would be lost")


def write_json_lines(rows: Iterable[Any], path: str | None) -> None:
    """Write a line of JSON a row to a file, which is whole or not there at all, or to standard output."""
    lines = (f"{_C1.sub(_escaped, json.dumps(row, ensure_ascii=False, allow_nan=False))}\n" for row in rows)
    if path is None:
        sys.stdout.buffer.writelines(line.encode() for line in lines)  # JSON is UTF-8, whatever the terminal is
        return
    with atomic_write(Path(path)) as written, written.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


def write_array(array: Array, path: str) -> None:
    """Write a .npy file, which is whole or not there at all."""
    with atomic_write(Path(path)) as written, written.open("wb") as file:
        np.save(file, array)
