"""How a case ends: what it is allowed to take, and what it is allowed to say."""

import io
import json
import re
import resource
import signal
import sys
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from npbert.cli import main

SECONDS, LONGEST = 10, 300
"""Of this process, without its waits, and on the clock, for what sleeps for ever."""
BYTES = 2**30
LONGEST_LINE, MOST_LINES = 2_100, 40


class Nonsense(Exception):  # noqa: N818  it is what was found, not a mistake of ours
    """Something was accepted that makes no sense."""


class Hang(BaseException):
    """A case took too long. (Not an Exception: nobody may catch it.)"""


class Outcome(NamedTuple):
    """What became of a case: `accepted`, `refused`, or what must never be; and what it said."""

    what: str
    said: str = ""


def limit():
    """From now on this process may take BYTES more than it has, and a case ends when it takes too long."""
    now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + BYTES, resource.RLIM_INFINITY))

    def stop(*_):
        raise Hang

    signal.signal(signal.SIGPROF, stop)
    signal.signal(signal.SIGALRM, stop)


def outcome_of(call):
    """What becomes of call(), which gives its outcome, and raises nothing."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except (Hang, MemoryError, Nonsense) as error:
        return Outcome(type(error).__name__, traceback.format_exc(limit=-3))
    except BaseException:
        return Outcome("traceback", traceback.format_exc(limit=-4))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def command(*arguments, stdin=b"", is_json=True):
    """What becomes of `npbert …`; what it prints when it succeeds must be JSON lines, unless it is no such command.

    Raises: Nonsense.
    """
    out, err = io.BytesIO(), io.BytesIO()
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"),
        "stdout": io.TextIOWrapper(out, encoding="utf-8", write_through=True),
        "stderr": io.TextIOWrapper(err, encoding="utf-8", errors="backslashreplace", write_through=True),
    }
    drawing = mock.patch("npbert.pages.report.page.as_bytes", lambda *_: b"")  # it would take most of the time
    with mock.patch.multiple(sys, **streams), drawing:
        status = main([str(argument) for argument in arguments])
    if status == 0 and is_json:
        for line in out.getvalue().decode().splitlines():
            json.loads(line, parse_constant=_refuse_constant)
    said = err.getvalue().decode(errors="replace")
    lines = said.splitlines()
    if len(lines) > MOST_LINES or max(map(len, lines), default=0) > LONGEST_LINE:
        raise Nonsense(f"{len(lines)} lines, the longest of {max(map(len, lines))} characters: {said[:300]}…")
    if re.search(r"Traceback|[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f\x9b]", said):
        raise Nonsense(f"a traceback, or a control character that reaches the terminal: {said!r:.500}")
    if status not in (0, 1, 2) or (status and "npbert" not in said):
        raise Nonsense(f"the status is {status}: {said!r}")
    if "not enough memory" in said:
        return Outcome("MemoryError", said)
    return Outcome("refused" if status else "accepted", said)


def _refuse_constant(name):
    raise Nonsense(f"{name} is not JSON")
