"""The logger "npbert", its messages as lines on standard error, and helpers for them: printable text, counts, lists of
names, and corrections of a name."""

import difflib
import io
import logging
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice

LONGEST_LINE, MOST_LINES = 600, 30

CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff\\ufffe\\uffff]")
"""A character that a terminal does not show, or that UTF-8 or XML does not have."""

_NOT_THE_USERS = ("npbert", "contextlib", "sklearn", "joblib")

LOGGER = logging.getLogger("npbert")
"""It logs new heads at INFO, and the files read at DEBUG. Without a handler in your program, nothing is printed."""

LOGGER.addHandler(logging.NullHandler())


def is_quiet() -> bool:
    """True if progress is switched off, by `logging.getLogger("npbert").setLevel(logging.ERROR)` or `npbert -q`."""
    return not LOGGER.isEnabledFor(logging.WARNING)


@contextmanager
def quiet(level: int = logging.ERROR) -> Iterator[None]:
    """Within it, npbert logs nothing below `level`. With ERROR, progress is off, too (`is_quiet`)."""
    before = LOGGER.level
    LOGGER.setLevel(max(before, level))
    try:
        yield
    finally:
        LOGGER.setLevel(before)


@contextmanager
def messages_on_standard_error() -> Iterator[None]:
    """Within it, npbert's log and all warnings are lines on standard error.

    Afterwards, the logging and warnings of the program are as before.
    """
    handler, before = _Lines(), LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.propagate = False
    try:
        with quiet(logging.INFO), warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)  # a line for the user, even with PYTHONWARNINGS=error
            warnings.showwarning = lambda message, *_, **__: LOGGER.warning("%s", message)
            yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.propagate = before


class _Lines(logging.Handler):
    """A handler that prints `npbert: a note or a warning` or `npbert: error: …`."""

    def emit(self, record: logging.LogRecord) -> None:
        tell(f"npbert: {'error: ' * (record.levelno >= logging.ERROR)}{printable(record.getMessage())}")


def tell(line: str) -> None:
    """Print a line on standard error, unless it is closed."""
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def note(line: str) -> None:
    """Print a line that is not a result, unless npbert is quiet."""
    if not is_quiet():
        print(line, flush=True)


def print_any_letter() -> None:
    r"""From now on, print letters that the encoding of standard output lacks as \uXXXX, instead of raising an error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def warn(text: str) -> None:
    """Warn at the user's line, at any depth of npbert or scikit-learn."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def printable(text: str) -> str:
    """Return text of any file or command line for a terminal.

    Control characters such as \\x1b are escaped, long lines are shortened in their middle, and only the first lines are
    kept.
    """
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [f"… and {len(lines) - MOST_LINES + 1} more lines"]
    written = CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode(), "\n".join(lines))
    return "\n".join(map(shortened, written.split("\n")))


def shortened(line: str, longest: int = LONGEST_LINE) -> str:
    """Return a line; of a line of more than `longest` characters, the beginning and the end."""
    if len(line) <= longest:
        return line
    half = longest // 2
    return f"{line[:half]} … ({len(line) - 2 * half:,} characters) … {line[-half:]}"


def counted(count: int, thing: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {thing}{'s' * (count != 1)}"


MOST_NAMES, _LONGEST_NAME = 10, 30


def listed(names: Collection[str], *, quote: Callable[[str], str] = repr) -> str:
    """Return names from a file for an error: the first ten in quotes, each cut to 30 characters, and the number of
    all."""
    first = islice(names, MOST_NAMES)
    cut = (name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in first)
    more = f", … ({len(names):,} in all)" if len(names) > MOST_NAMES else ""
    return ", ".join(map(quote, cut)) + more


def in_words(error: BaseException) -> str:
    """Return an error without Python's terms; for a system error, the file and the reason; for a KeyError, the key."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error, "; did you mean …?" with the closest known name, or "" if none is close.

    Case does not matter, nor do - and _."""
    by_key = {_key(other): other for other in known}
    key = _key(name)
    found = difflib.get_close_matches(key, by_key, cutoff=0.65) + [other for other in by_key if key in other.split("_")]
    return f"; did you mean {by_key[found[0]]}?" if found else ""


def _key(name: str) -> str:
    return name.lower().lstrip("-").replace("-", "_")
