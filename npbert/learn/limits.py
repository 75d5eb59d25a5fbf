"""Limits for the process of a learner's code: computing time, time and memory."""

import contextlib
import faulthandler
import signal
from typing import TextIO

MEMORY_LIMIT = 4 * 2**30
"""In bytes, if the system supports a limit."""


def limit(computing: float, waiting: float, stack: TextIO) -> None:
    """End this process after so many seconds of computing, or of the clock, and write its stack into the file; and
    limit its memory, if the system can.

    faulthandler does both, as no Python thread runs during a call such as sum(range(10**15)). Windows has no limit for
    computing. A busy machine does not use up the first limit.
    """
    faulthandler.dump_traceback_later(waiting, exit=True, file=stack)
    with contextlib.suppress(AttributeError):  # Windows
        faulthandler.register(signal.SIGPROF, file=stack, chain=True)
        signal.setitimer(signal.ITIMER_PROF, computing)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MEMORY_LIMIT if hard == resource.RLIM_INFINITY else min(MEMORY_LIMIT, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def lift_time_limit() -> None:
    """End the limit of computing."""
    with contextlib.suppress(AttributeError):  # Windows
        signal.setitimer(signal.ITIMER_PROF, 0)
