"""Messages on standard error: notes, warnings and errors, each on a line of its own. Under a launcher of several
processes, as mpiexec is, one of them speaks for all."""

import io
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress

from npbert.io.launcher import launched, launched_rank
from npbert.io.messages import LOGGER, printable, quiet


@contextmanager
def messages_on_standard_error(level: int = logging.INFO, say: Callable[[Warning], str] = str) -> Iterator[None]:
    """While it lasts, what npbert logs from `level` on, and every warning, is a line on standard error. say: puts a
    warning into words.

    The logging and the warnings of the program around it are as before when it ends.
    """
    handler, before = _Lines(), (LOGGER.level, LOGGER.propagate)
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


class _Lines(logging.Handler):
    """npbert: a note or a warning;  npbert: error: what was wrong. A detail is said once, though a file may be read
    several times."""

    def __init__(self) -> None:
        super().__init__()
        self.said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        line = f"npbert: {'error: ' * (record.levelno >= logging.ERROR)}{printable(record.getMessage())}"
        if record.levelno > logging.DEBUG or line not in self.said:
            self.said.add(line)
            tell(line)


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
    with quiet(), redirect_stdout(io.StringIO()):
        yield
