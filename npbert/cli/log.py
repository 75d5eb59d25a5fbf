"""Notes, warnings and errors on standard error, a line each. Of several processes (mpiexec), the first prints for
all."""

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from npbert.io import LOGGER, is_quiet, printable


@contextmanager
def messages_on_standard_error() -> Iterator[None]:
    """Within it, npbert's log and all warnings are lines on standard error.

    Afterwards, the logging and warnings of the program are as before.
    """
    handler, before = _Lines(), (LOGGER.level, LOGGER.propagate)
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)  # a line for the user, even with PYTHONWARNINGS=error
            warnings.showwarning = lambda message, *_, **__: LOGGER.warning("%s", message)
            yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(before[0])
        LOGGER.propagate = before[1]


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
