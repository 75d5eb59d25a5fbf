"""Messages on standard error: notes, warnings and errors, each on a line of its own. Under a launcher of several
processes, as mpiexec is, one of them speaks for all."""

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path

from npbert.cli.command import UsageError
from npbert.io.launcher import launched, launched_rank
from npbert.io.messages import LOGGER, printable

SHARED = ("pretrain", "finetune")
QUIET, USUAL, VERBOSE = logging.ERROR, logging.INFO, logging.DEBUG


@contextmanager
def messages_on_standard_error(level: int, say: Callable[[Warning], str] = str) -> Iterator[None]:
    """While it lasts, what npbert logs from `level` on, and every warning, is a line on standard error. say: puts a
    warning into words.

    The logging and the warnings of the program around it are as before when it ends.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter())
    handler.addFilter(_Once())
    before = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level)
    LOGGER.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)  # a line for the user, under PYTHONWARNINGS=error as well
            warnings.showwarning = lambda message, *_, **__: LOGGER.warning("%s", say(message))
            yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(before[0])
        LOGGER.propagate = before[1]


class _Once(logging.Filter):
    """A detail is said once, though a file may be read several times."""

    def __init__(self) -> None:
        super().__init__()
        self.said: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        is_new = record.levelno > logging.DEBUG or message not in self.said
        self.said.add(message)
        return is_new


class _Formatter(logging.Formatter):
    """npbert: a note or a warning;  npbert: error: what was wrong"""

    def format(self, record: logging.LogRecord) -> str:
        return f"npbert: {'error: ' if record.levelno >= logging.ERROR else ''}{printable(record.getMessage())}"


def tell(line: str) -> None:
    """Print a line on standard error, if anybody can still read it."""
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def speaks() -> bool:
    """True for the process that says what is the same for all: the first, or the only one."""
    return launched() == 1 or launched_rank() == 0


@contextmanager
def in_silence() -> Iterator[None]:
    """While it lasts, nothing is printed and no warning shown; an error still is."""
    devnull = Path(os.devnull)
    with only_from(logging.ERROR), devnull.open("w", encoding="utf-8", errors="replace") as out, redirect_stdout(out):
        yield


@contextmanager
def only_from(level: int) -> Iterator[None]:
    """While it lasts, npbert logs nothing below that level."""
    before = LOGGER.level
    LOGGER.setLevel(max(before, level))
    try:
        yield
    finally:
        LOGGER.setLevel(before)


def check_shared(prog: str) -> None:
    """Every process would do all of a command that shares no work, and write the same files. Raises: UsageError."""
    count, name = launched(), prog.split()[-1]
    if count > 1 and name not in SHARED:
        only = f"{count} processes were started, and only {' and '.join(SHARED)} share their work"
        raise UsageError(f"{only}: start {prog} as one process")
