"""Files that are read with errors that name them, and written whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from npbert.messages import LOGGER

_UNFINISHED = ".npbert-unfinished"


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
    """A path to write to, which takes the place of `path` when the block ends without an error.

    Whatever happens, a power cut too, `path` is the whole old file or the whole new one: it is renamed when all of it
    is on the disk. It has the mode of the old file. A link stays a link, and what it points to is written. What is no
    file, a pipe or /dev/null say, is written to as it is.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    if path.is_symlink():
        path = path.resolve()
    try:  # a folder, as the library of safetensors writes beside what it writes to
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=_UNFINISHED, dir=path.parent))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # nobody knows the name that mkdtemp tried
    written = folder / path.name
    try:
        written.touch()
        mode = (path if path.exists() else written).stat().st_mode
        with naming(path):
            yield written
        with written.open("r+b") as file:  # Windows wants to write what it syncs
            os.fsync(file.fileno())
        written.chmod(mode)
        written.replace(path)
        _sync_folder(path.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_writable(path: Path) -> None:
    """Find out, before all the work, whether a file can be written to `path`.

    Raises: OSError that names it: it is a folder, there is no folder for it, or nothing may be written there.
    """
    folder = path.parent
    code = 0
    if not path.name or path.is_dir():
        code = errno.EISDIR
    elif not folder.is_dir():
        code = errno.ENOTDIR if folder.exists() else errno.ENOENT
    elif not os.access(path if path.exists() and not path.is_file() else folder, os.W_OK):
        code = errno.EACCES
    if code:
        raise OSError(code, os.strerror(code), str(path))


def remove_leftovers(folder: Path) -> None:
    """Delete what processes that were killed in an atomic_write left in `folder`."""
    for leftover in folder.glob(f".*{_UNFINISHED}"):
        shutil.rmtree(leftover, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    """The names of its files reach the disk, too. (Windows does that by itself, and opens no folders.)"""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_text(path: Path) -> str:
    """The text of a file. Raises: FileError that gives the place when it is not UTF-8; OSError."""
    LOGGER.debug("reading %s", path)
    return decode(path.read_bytes(), str(path))


def decode(data: bytes, name: str) -> str:
    """UTF-8 as text, without a byte-order mark. Raises: FileError that gives file, line and byte of what is not."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text, place = error.object, error.start  # without the byte-order mark
        line = text.count(b"\n", 0, place) + 1
        raise FileError(f"{name}, line {line}: byte {place} (0x{text[place]:02x}) is not UTF-8") from error


def parse_json(text: str, name: str, *, line: int | None = None) -> Any:
    """What a JSON text means, of the file called `name`, or of one line of it.

    Raises: FileError that gives file and line for what is no JSON (NaN is none), is nested too deeply, or holds a
    number of thousands of digits or half of a character (a lone surrogate, which no text can hold).
    """
    place = name if line is None else f"{name}, line {line}"
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        place = f"{name}, line {error.lineno if line is None else line}"
        raise FileError(f"{place}: no valid JSON: {error.msg}") from error
    except UnicodeEncodeError as error:
        raise FileError(f"{place}: no valid JSON: half of a character, {error.object[error.start]!a}") from error
    except RecursionError as error:
        raise FileError(f"{place}: no valid JSON: it is nested too deeply") from error
    except ValueError as error:
        raise FileError(f"{place}: no valid JSON: {error}") from error
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number there")


def read_json_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises: FileError when it holds no JSON or something else than an object; OSError."""
    value = parse_json(read_text(path), str(path))
    if not isinstance(value, dict):
        raise FileError(f"{path} holds a JSON {type(value).__name__}, wanted an object")
    return value
