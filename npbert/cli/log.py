"""What the command says on standard error: notes, warnings and errors, each on a line of its own."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from npbert.messages import LOGGER, printable

QUIET, USUAL, VERBOSE = logging.ERROR, logging.INFO, logging.DEBUG


@contextmanager
def messages_on_standard_error(level: int) -> Iterator[None]:
    """While it lasts, what npbert logs from `level` on, and every warning, is a line on standard error.

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
            warnings.showwarning = lambda message, *_, **__: LOGGER.warning("%s", message)
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
