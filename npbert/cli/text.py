"""Input of texts, one on each line, and output of results, as JSON lines or an array."""

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
JSON_LINES = (".jsonl", ".ndjson", ".json")
"""The endings of a file of JSON lines."""
DIGITS = 9
"""The digits of a number, enough for every bit of a float32."""
_C1 = re.compile("[\x7f-\x9f\ud800-\udfff]")  # valid in JSON, but not on a terminal or in UTF-8


def name_of(path: str) -> str:
    """Return the name of the file for an error."""
    return "standard input" if path == STANDARD_INPUT else path


def read_all(path: str) -> str:
    """Return the text of a file, or of standard input for `-`.

    Raises: FileError if it is empty, not UTF-8, or a stream of more than 256 MiB; OSError if it cannot be read.
    """
    text = decode(_standard_input() if path == STANDARD_INPUT else read_bytes(Path(path)), name_of(path))
    LOGGER.debug("read %s: %d characters", name_of(path), len(text))
    if not text.strip():
        raise FileError(f"{name_of(path)} is empty, wanted text")
    return text


def _standard_input() -> bytes:
    """Return standard input. At a keyboard, print that the command waits."""
    if sys.stdin is None:  # closed before the program began
        raise FileError("standard input is closed, wanted text in it or in a FILE")
    if sys.stdin.buffer.isatty():
        end = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"
        LOGGER.info("reading from the keyboard: type a text on each line, and end with %s", end)
    with naming(Path("standard input")):
        return read_stream(sys.stdin.buffer, "standard input")


def read_lines(path: str) -> list[str]:
    """Return the lines without their ends. An empty line is an empty text. Raises: as read_all."""
    return [line.removesuffix("\r") for line in read_all(path).removesuffix("\n").split("\n")]


def read_texts(path: str, wanted: str) -> list[list[str]]:
    """Return the one or two parts of each line, split at a tab. Raises: as read_all; FileError for more parts.

    wanted: the expectation in that error"""
    rows = [line.split("\t") for line in read_lines(path)]
    for number, parts in enumerate(rows, start=1):
        if len(parts) > 2:
            raise FileError(f"{name_of(path)}, line {number}: {len(parts)} {wanted}")
    return rows


def note(line: str) -> None:
    """Print a line that is not a result, unless npbert is quiet."""
    if not is_quiet():
        print(line, flush=True)


def check_output(path: str, read: str = STANDARD_INPUT, *, endings: Sequence[str] = ()) -> None:
    """Check, before the work, that `path` can be written. An empty path is standard output.

    Raises: OSError if it cannot be written; InputError if it is the file `read`, or has none of these endings."""
    if not path:
        return
    check_writable(Path(path))
    if Path(path).is_file() and Path(read).is_file() and Path(path).samefile(read):
        raise InputError(what="output", got=path, wanted="another file than the input, which would be lost")
    if endings and Path(path).suffix not in ("", *endings):
        raise InputError(what="output", got=path, wanted=f"a name that ends in one of {', '.join(endings)}")


def write_json_lines(rows: Iterable[Any], path: str = "") -> None:
    """Write each row as a line of JSON, to a file (whole or not at all) or to standard output."""
    texts = (json.dumps(rounded(row), ensure_ascii=False, allow_nan=False) for row in rows)
    lines = (f"{_C1.sub(_escaped, text)}\n".encode() for text in texts)
    if not path:
        sys.stdout.buffer.writelines(lines)  # JSON is UTF-8, on every terminal
        return
    with write_where_asked(Path(path)) as written, written.open("wb") as file:
        file.writelines(lines)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


def rounded(value: Any) -> Any:
    """Return the value with every float in it rounded: a float64 from a float32 would show 16 digits."""
    return with_floats(value, lambda number: float(f"{number:.{DIGITS}g}"))


def read_array(path: str) -> Array:
    """Return the array in a .npy file, without running a pickle. Raises: FileError if it has no array; OSError."""
    try:
        with Path(path).open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileError(f"{path} is not an array of npbert embed --output NAME.npy: {error}") from error


def write_array(array: Array, path: str) -> None:
    """Write a .npy file, whole or not at all."""
    with write_where_asked(Path(path)) as written, written.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.asarray(array, order="C").data)  # np.save hides the error of a full disk
