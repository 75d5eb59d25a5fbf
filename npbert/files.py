"""Files that are read with errors that name them, and written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_UNFINISHED = ".part"


class FileError(ValueError):
    """A file is there, but is not what it should be; the message names it and says what is wrong."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError inside that names no file, as of a full disk, names `path`."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A path to write to, beside `path`, which takes the place of `path` when the block ends without an error.

    Whatever happens, `path` is the whole old file or the whole new one: it is renamed when all of it is on the disk.
    What is no file, a pipe or /dev/null say, is written to as it is.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_UNFINISHED, dir=path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # nobody knows the name that mkstemp tried
    os.close(handle)
    written = Path(name)
    try:
        with naming(path):
            yield written
        with written.open("rb") as file:
            os.fsync(file.fileno())
        written.chmod(0o666 & ~_umask())  # mkstemp makes files that nobody else may read
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise


def remove_leftovers(folder: Path) -> None:
    """Delete what processes that were killed in an atomic_write left in `folder`."""
    for leftover in folder.glob(f".*{_UNFINISHED}"):
        leftover.unlink()


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_text(path: Path) -> str:
    """The text of a file. Raises: FileError that gives the place when it is not UTF-8; OSError."""
    return decode(path.read_bytes(), str(path))


def decode(data: bytes, name: str) -> str:
    """UTF-8 as text, without a byte-order mark. Raises: FileError that gives file, line and byte of what is not."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text, place = error.object, error.start  # without the byte-order mark
        line = text.count(b"\n", 0, place) + 1
        raise FileError(f"{name}, line {line}: byte {place} (0x{text[place]:02x}) is not UTF-8") from error


def read_json_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises: FileError when it holds no JSON or something else than an object; OSError."""
    try:
        value = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise FileError(f"{path}, line {error.lineno}: no valid JSON: {error.msg}") from error
    if not isinstance(value, dict):
        raise FileError(f"{path} holds a JSON {type(value).__name__}, wanted an object")
    return value


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
