"""What npbert says while it works: through the standard library's `logging`, by the logger called "npbert"."""

from __future__ import annotations

import logging
import re

LONGEST_LINE, MOST_LINES = 600, 30

_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")

LOGGER = logging.getLogger("npbert")
"""It says little: at DEBUG, which files are read. Without a handler of the program's own, nothing is printed."""

LOGGER.addHandler(logging.NullHandler())


def is_quiet() -> bool:
    """Whether nobody wants to see progress: after `logging.getLogger("npbert").setLevel(logging.ERROR)`, or under
    `npbert -q`, there are no bars and no lines of progress."""
    return not LOGGER.isEnabledFor(logging.WARNING)


def printable(text: str) -> str:
    """The text as a terminal may show it: what came from a file or a command line may hold anything.

    Control characters are written out (\\x1b, say, which could colour, move or hide what follows), long lines are
    shortened in their middle, and of many lines the first are shown.
    """
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [f"… and {len(lines) - MOST_LINES + 1} lines more"]
    return "\n".join(_shortened(_CONTROL.sub(_written_out, line)) for line in lines)


def _written_out(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode()


def _shortened(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    half = LONGEST_LINE // 2
    return f"{line[:half]} … ({len(line) - 2 * half:,} characters) … {line[-half:]}"


def counted(count: int, thing: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {thing}{'s' * (count != 1)}"


def in_words(error: BaseException) -> str:
    """What an error says to somebody who reads no Python: of the system's, the file and what is wrong with it."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
