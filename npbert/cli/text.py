"""Text in, one on each line, and results out, as JSON lines or an array."""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.io.errors import InputError
from npbert.io.files import FileError, check_writable, decode, naming, read_bytes, read_stream, write_where_asked
from npbert.io.json_lines import with_floats
from npbert.io.messages import LOGGER, is_quiet

STANDARD_INPUT = "-"
DIGITS, SHOWN_DIGITS = 9, 4
"""How many digits of a number are in a file or a pipe, where they are a float32 to the last bit; and on a terminal."""
_C1 = re.compile("[\x7f-\x9f\ud800-\udfff]")  # what JSON may hold as it is, but no terminal, or no UTF-8, should


def name_of(path: str) -> str:
    """The name of the file in an error."""
    return "standard input" if path == STANDARD_INPUT else path


def read_all(path: str) -> str:
    """The text of a file, or of standard input for `-`.

    Raises: FileError when it is empty, not UTF-8, or a stream of more than 256 MiB; OSError for a file that is not
    there or cannot be read.
    """
    try:
        read = _standard_input() if path == STANDARD_INPUT else read_bytes(Path(path))
    except FileNotFoundError as error:
        wanted = "wanted a file of text, or the text on standard input"
        raise FileNotFoundError(error.errno, f"{error.strerror}; {wanted}", path) from error
    LOGGER.debug("read %s: %d bytes", name_of(path), len(read))
    text = decode(read, name_of(path))
    if not text.strip():
        raise FileError(f"{name_of(path)} is empty: there is no text to work on")
    return text


def _standard_input() -> bytes:
    """All of it; somebody at a keyboard hears that the command waits for them."""
    if sys.stdin is None:  # closed before the program began
        raise FileError("standard input is closed: there is no text to work on, and no file was given")
    if sys.stdin.buffer.isatty():
        end = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"
        LOGGER.info("reading from the keyboard: a text on each line, end with %s", end)
    with naming(Path("standard input")):
        return read_stream(sys.stdin.buffer, "standard input")


def read_lines(path: str) -> list[str]:
    """The lines, without their ends; an empty line among them is an empty text. Raises: as read_all."""
    return [line.removesuffix("\r") for line in read_all(path).removesuffix("\n").split("\n")]


def read_texts(path: str, wanted: str) -> list[list[str]]:
    """The parts of each line, one or two, with a tab between them. Raises: as read_all; FileError for more parts, which
    says what is wanted."""
    rows = [line.split("\t") for line in read_lines(path)]
    for number, parts in enumerate(rows, start=1):
        if len(parts) > 2:
            raise FileError(f"{name_of(path)}, line {number}: {len(parts)} {wanted}")
    return rows


def note(line: str) -> None:
    """Print a line that is not a result, unless npbert is to be quiet."""
    if not is_quiet():
        print(line, flush=True)


JSON_LINES = (".jsonl", ".ndjson", ".json")
"""How the name of a file of JSON lines may end."""


def check_output(path: str, read: str = STANDARD_INPUT, *, endings: Sequence[str] = ()) -> None:
    """Better now than after all the work: raise OSError when `path` cannot be written, and InputError when it is the
    file that is `read`, or when its name has an ending, and not one of these. An empty path is standard output."""
    if not path:
        return
    check_writable(Path(path))
    if Path(path).is_file() and Path(read).is_file() and Path(path).samefile(read):
        raise InputError(what="output", got=path, wanted="another file than the one that is read: it would be lost")
    if endings and Path(path).suffix not in ("", *endings):
        raise InputError(what="output", got=path, wanted=f"a name that ends in one of {', '.join(endings)}")


def write_json_lines(rows: Iterable[Any], path: str = "", *, for_people: bool = True) -> None:
    """Write a line of JSON a row to a file, which is whole or not there at all, or to standard output. for_people: on a
    terminal, numbers are shown with few digits."""
    digits = SHOWN_DIGITS if for_people and not path and sys.stdout.isatty() else DIGITS
    written_rows = (json.dumps(rounded(row, digits), ensure_ascii=False, allow_nan=False) for row in rows)
    lines = (_C1.sub(lambda found: f"\\u{ord(found.group()):04x}", row) + "\n" for row in written_rows)
    if not path:
        sys.stdout.buffer.writelines(line.encode() for line in lines)  # JSON is UTF-8, whatever the terminal is
        return
    with write_where_asked(Path(path)) as written, written.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def rounded(value: Any, digits: int) -> Any:
    """The value with every float in it rounded to so many digits: a float64 made of a float32 would show 16."""
    return with_floats(value, lambda number: float(f"{number:.{digits}g}"))


def read_array(path: str) -> Array:
    """The array in a .npy file, of which nothing is run. Raises: FileError when there is none in it; OSError."""
    try:
        with Path(path).open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileError(f"{path} is not an array as npbert embed --output NAME.npy writes it: {error}") from error


def write_array(array: Array, path: str) -> None:
    """Write a .npy file, which is whole or not there at all."""
    with write_where_asked(Path(path)) as written, written.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.asarray(array, order="C").data)  # np.save would not say why the disk takes no more
