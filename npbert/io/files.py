"""Reads files, with errors that name them, and writes files whole or not at all."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from operator import methodcaller
from pathlib import Path
from typing import IO, Any

from npbert.io.errors import InputError, Place
from npbert.io.messages import LOGGER, in_words

LARGEST_STREAM = 2**28
"""The most bytes of a stream: standard input, a pipe or a device."""

LARGEST_OBJECT = 2**24
"""The most bytes of a configuration, as JSON in memory may take thirty times as much."""

LARGEST_TOKENIZER = 2**25
"""The most bytes of a tokenizer.json; that of XLM-R has a third of it."""

_UNFINISHED = ".npbert-unfinished"


class FileError(InputError):
    """A file, a folder or a stream cannot be used, for what is in it or for its kind. The message names it."""


@contextmanager
def as_file_error(words: object, kinds: Any = (LookupError, TypeError, ValueError)) -> Iterator[None]:
    """Turn errors of these kinds, and panics of a library in Rust, into a FileError that begins with `words`. Errors of
    the system stay. (A panic is no Exception, and its class cannot be imported.)"""
    try:
        yield
    except BaseException as error:
        is_of_kinds = isinstance(error, kinds) and not isinstance(error, FileError | OSError | ImportError)
        if not is_of_kinds and type(error).__name__ != "PanicException":
            raise
        raise FileError(f"{words}: {in_words(error)}") from error


HOW_TO_ENCODE = "save it as UTF-8 (> in Windows PowerShell 5 writes UTF-16)"
HOW_TO_DOWNLOAD = "npbert reads from disk; to download a model: hf download NAME --local-dir FOLDER"


def model_folder(folder: str | Path) -> Path:
    """Return the folder of a model: `folder` itself, or the best model's folder in a run."""
    folder = Path(folder)
    of_run = folder / "model"
    return of_run if (of_run / "config.json").is_file() and not (folder / "config.json").is_file() else folder


def model_file(folder: str | Path, *names: str) -> Path:
    """Return the first of these files that is in the folder of a model. Raises: FileNotFoundError without any."""
    inside = model_folder(folder)
    for name in names:
        if (inside / name).is_file():
            return inside / name
    what = f"it has no {' or '.join(names)}" if inside.exists() else "it does not exist"
    raise FileNotFoundError(f"{folder} is not a checkpoint: {what} ({HOW_TO_DOWNLOAD})")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Within it, an OSError without a file (a full disk), or with an unfinished one, gets the name `path`."""
    try:
        yield
    except OSError as error:
        if error.filename is None or _UNFINISHED in str(error.filename):
            error.filename = str(path)
        raise


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Give a path to write to, which replaces `path` when the block ends without an error.

    `path` is always the whole old file or the whole new one, even after a power cut: the new file is renamed when all
    of it is on the disk. It has the mode of the old file, and also replaces a link or a pipe, so an untrusted folder
    cannot redirect the writing.
    """
    with naming(path), _unfinished(path) as written:
        is_old = path.is_file() and not path.is_symlink()
        mode = (path if is_old else written).stat().st_mode
        yield written
        with written.open("r+b") as file:  # Windows can sync only a writable file
            os.fsync(file.fileno())
        written.chmod(mode)
        written.replace(path)
        _sync_folder(path.parent)


def write_where_asked(path: str | Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write the parts to a user's path, by atomic_write. It may lead anywhere: the target of a link is replaced, and a
    pipe or /dev/null is written directly."""
    path = Path(path)
    is_file = path.is_file() or not path.exists()
    target = path.resolve() if path.is_symlink() else path
    with atomic_write(target) if is_file else nullcontext(path) as written, written.open("wb") as file:
        file.writelines(parts)


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """Give an empty file in a temporary folder next to `path`, as safetensors also writes temporary files."""
    with tempfile.TemporaryDirectory(_UNFINISHED, ".", path.parent, ignore_cleanup_errors=True) as folder:
        written = Path(folder, path.name)
        written.touch()
        yield written


def check_writable(path: Path, mark: str = "") -> None:
    """Check, before the work, that a file can be written to `path`, or a pipe or a device.

    Raises: FileError if it is a folder; OSError if its folder does not exist, or is not writable; FileExistsError if it
    is a file without `mark` in its beginning, as it is not npbert's, and would be lost.
    """
    if path.is_dir():
        raise FileError(f"{path} is a folder, wanted a file")
    if path.exists() and not path.is_file():
        return
    with naming(path), _unfinished(path):
        pass
    if path.is_file() and mark:
        with path.open("rb") as file:
            begin = file.read(2**16)
        if begin and mark.encode() not in begin:
            raise FileExistsError(f"{path} is not a page of npbert, and would be lost; choose another name")


def remove_leftovers(folder: Path) -> None:
    """Delete unfinished files of killed processes in `folder`."""
    for leftover in folder.glob(f".*{_UNFINISHED}"):
        shutil.rmtree(leftover, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    """Sync the names of its files to the disk. (Windows does so itself, and cannot open folders.)"""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_json(path: Path, value: Any) -> None:
    """Write `value`, perhaps with NumPy's numbers, as indented JSON, by write_text."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=methodcaller("item"))
    write_text(path, f"{text}\n")


def write_text(path: Path, text: str) -> None:
    """Write the text as UTF-8, by atomic_write, into a folder that is created if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as written:
        written.write_bytes(text.encode())


def read_text(path: Path) -> str:
    """Return the text of a file. Raises: FileError with the place if it is not UTF-8, and as read_stream; OSError."""
    LOGGER.debug("reading %s", path)
    with naming(path), path.open("rb") as stream:
        data = stream.read() if path.is_file() else read_stream(stream, str(path))
    return decode(data, Place(path))


def read_stream(stream: IO[bytes], name: str) -> bytes:
    """Return all bytes of a stream. Raises: FileError with `name` for more than LARGEST_STREAM bytes."""
    data = stream.read(LARGEST_STREAM + 1)
    if len(data) > LARGEST_STREAM:
        raise FileError(f"{name} has more than {LARGEST_STREAM // 2**20} MiB, wanted a file, as a stream may never end")
    return data


def decode(data: bytes, place: Place) -> str:
    """Return UTF-8 as text, without a byte-order mark. Raises: FileError with file, line and byte of other data."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        *before, line = error.object[: error.start].split(b"\n")  # without the byte-order mark
        where = place._replace(line=max(1, place.line) + len(before))
        says = f"byte {len(line) + 1} of the line (0x{error.object[error.start]:02x}) is not UTF-8"
        raise FileError(f"{where}: {says}; {HOW_TO_ENCODE}") from error


def parse_json(text: str, place: Place, kind: type = dict, hint: str = "") -> Any:
    """Return the object, or with kind=list the list, in a JSON text, from a file or from one line of it.

    hint: the end of the error for another kind, with a fix.
    Raises: FileError with file and line, for text that is not JSON (such as NaN), is nested too deeply, or has a number
    with thousands of digits or half of a character (a lone surrogate); and for another kind.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        where = place if place.line else place._replace(line=getattr(error, "lineno", 0))
        raise FileError(f"{where}: not valid JSON: {getattr(error, 'msg', error)}") from error
    if not isinstance(value, kind):
        wanted = "an object" if kind is dict else "a list"
        raise FileError(f"{place}: it is a JSON {type(value).__name__}, wanted {wanted}{hint}")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def read_json(path: Path, kind: type = dict, *, may_lack: bool = False, most: int = LARGEST_OBJECT) -> Any:
    """Return the object, or with kind=list the list, in a JSON file, or an empty one for a missing file, if it
    `may_lack`.

    Raises: as parse_json; FileError if it has more than `most` bytes; OSError.
    """
    if may_lack and not path.is_file():
        return kind()
    size = path.stat().st_size
    if size > most:
        raise FileError(f"{path} has {size / 2**20:.0f} MiB, wanted at most {most / 2**20:.0f}")
    return parse_json(read_text(path), Place(path), kind)
