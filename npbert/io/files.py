"""Files that are read with errors that name them, and written whole or not at all."""

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from npbert.io.errors import InputError, Place
from npbert.io.messages import LOGGER

LARGEST_STREAM = 2**28
"""The most bytes of what is not a file: standard input, a pipe or a device."""

LARGEST_OBJECT = 2**24
"""The most bytes of a configuration: in memory, JSON may take thirty times as much."""

LARGEST_TOKENIZER = 2**25
"""The most bytes of a tokenizer.json; that of XLM-R has a third of it."""

_UNFINISHED = ".npbert-unfinished"


class FileError(InputError):
    """A file is there, but is not what it should be; the message names it and says what is wrong."""


HOW_TO_ENCODE = "save it as UTF-8 (> in Windows PowerShell 5 writes UTF-16)"
HOW_TO_DOWNLOAD = "npbert reads from disk; to download a model: hf download NAME --local-dir FOLDER"


def model_folder(folder: str | Path) -> Path:
    """The folder of a model: `folder` itself, or where that is the folder of a run, that of the run's best model."""
    folder = Path(folder)
    of_run = folder / "model"
    return of_run if (of_run / "config.json").is_file() and not (folder / "config.json").is_file() else folder


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError inside that names no file, as of a full disk, or an unfinished one, names `path`."""
    try:
        yield
    except OSError as error:
        if type(error) is OSError and error.errno is None:  # a library's, in its own words
            raise OSError(errno.EIO, str(error), str(path)) from error
        if error.filename is None or _UNFINISHED in str(error.filename):
            error.filename = str(path)
        raise


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` when the block ends without an error.

    Whatever happens, a power cut too, `path` is the whole old file or the whole new one: it is renamed when all of it
    is on the disk. It has the mode of the old file. Nothing is ever written through what stands at `path`: the new file
    takes the place of a link, or of a pipe, too. So a folder from somebody else cannot have npbert write elsewhere.
    """
    with naming(path), _unfinished_folder(path) as folder:
        written = folder / path.name
        written.touch()
        is_old = path.is_file() and not path.is_symlink()
        mode = (path if is_old else written).stat().st_mode
        yield written
        with written.open("r+b") as file:  # Windows wants to write what it syncs
            os.fsync(file.fileno())
        written.chmod(mode)
        written.replace(path)
        _sync_folder(path.parent)


@contextmanager
def write_where_asked(path: Path) -> Iterator[Path]:
    """atomic_write for a path that the user has named, which may lead anywhere: a link stays a link, and what it points
    to is written; a pipe, or /dev/null, is written to as it is."""
    if path.exists() and not path.is_file():
        yield path
        return
    with atomic_write(path.resolve() if path.is_symlink() else path) as written:
        yield written


@contextmanager
def _unfinished_folder(path: Path) -> Iterator[Path]:
    """A folder beside `path` while it lasts: the library of safetensors, too, writes beside what it writes to."""
    name = path.name.encode(errors="replace")[:60].decode(
        errors="ignore"
    )  # with the rest, no longer than a name may be
    folder = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=_UNFINISHED, dir=path.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_writable(path: Path) -> None:
    """Find out, before all the work, whether a file can be written to `path`.

    Raises: OSError that names it: it is a folder, there is no folder for it, or nothing may be written there.
    """
    if path.exists() and not path.is_file():
        code = errno.EISDIR if path.is_dir() else 0 if os.access(path, os.W_OK) else errno.EACCES
        if code:
            raise OSError(code, os.strerror(code), str(path))
        return
    with naming(path), _unfinished_folder(path) as folder:
        (folder / path.name).touch()


def check_replaceable(path: Path, mark: str) -> None:
    """Raise FileExistsError when `path` is a file that does not begin with a text that has `mark` in it: it was written
    by something else, and would be lost."""
    if path.is_file():
        with path.open("rb") as file:
            begin = file.read(2**16)
        if begin and mark.encode() not in begin:
            raise FileExistsError(f"{path} is another file, not a page of npbert: it would be lost")


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
    return decode(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """All of a file. Raises: FileError as read_stream for a pipe or a device, which may have no end; OSError."""
    if path.is_file():
        return path.read_bytes()
    with path.open("rb") as stream:
        return read_stream(stream, str(path))


def read_stream(stream: IO[bytes], name: str) -> bytes:
    """All that comes. Raises: FileError that calls it `name` when that is more than LARGEST_STREAM bytes."""
    data = stream.read(LARGEST_STREAM + 1)
    if len(data) > LARGEST_STREAM:
        raise FileError(f"{name} gives more than {LARGEST_STREAM // 2**20} MiB, and may have no end: wanted a file")
    return data


def decode(data: bytes, name: str) -> str:
    """UTF-8 as text, without a byte-order mark. Raises: FileError that gives file, line and byte of what is not."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text, place = error.object, error.start  # without the byte-order mark
        line = text.count(b"\n", 0, place) + 1
        says = f"{name}, line {line}: byte {place} (0x{text[place]:02x}) is not UTF-8"
        raise FileError(says, hint=HOW_TO_ENCODE) from error


def parse_json(text: str, name: str, *, line: int | None = None) -> Any:
    """The value of a JSON text, of the file called `name`, or of one line of it.

    Raises: FileError that gives file and line for what is not JSON (NaN is none), is nested too deeply, or holds a
    number of thousands of digits or half of a character (a lone surrogate, which no text can hold).
    """
    place = Place(name, line or 0)
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        place = Place(name, line or error.lineno)
        raise FileError(f"not valid JSON: {error.msg}", where=place) from error
    except UnicodeEncodeError as error:
        raise FileError(f"not valid JSON: half of a character, {error.object[error.start]!a}", where=place) from error
    except RecursionError as error:
        raise FileError("not valid JSON: it is nested too deeply", where=place) from error
    except ValueError as error:
        raise FileError(f"not valid JSON: {error}", where=place) from error
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number there")


def read_json_object(path: Path, *, may_lack: bool = False, most: int = LARGEST_OBJECT) -> dict[str, Any]:
    """The object in a JSON file, or an empty one for a file that is not there, if it `may_lack`.

    Raises: FileError when it holds no JSON or something else than an object, or more than `most` bytes; OSError.
    """
    if may_lack and not path.is_file():
        return {}
    if path.is_file() and path.stat().st_size > most:
        raise FileError(f"{path} has {path.stat().st_size / 2**20:.0f} MiB, wanted at most {most / 2**20:.0f}")
    value = parse_json(read_text(path), str(path))
    if not isinstance(value, dict):
        raise FileError(f"{path} holds a JSON {type(value).__name__}, wanted an object")
    return value
