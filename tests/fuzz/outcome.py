"""How a case ends: what it is allowed to take, and what it is allowed to say."""

import io
import json
import re
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from npbert.cli import main

SECONDS = 10  # of this process: how long it waits for its turn does not count
BYTES = 2**30
LONGEST_LINE = 2_100
MOST_LINES = 40


class Nonsense(Exception):  # noqa: N818  it is what was found, not a mistake of ours
    """Something was accepted that makes no sense."""


class Hang(BaseException):
    """A case took longer than SECONDS. (Not an Exception: nobody may catch it.)"""


GOOD = ("accepted", "refused")


class Outcome(NamedTuple):
    """What became of a case: `accepted`, `refused`, or what must never be; and what it said."""

    what: str
    said: str = ""

    @property
    def is_good(self) -> bool:
        return self.what in GOOD


def limit_memory() -> None:
    """From now on this process may take BYTES more than it has."""
    now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + BYTES + 2**28, resource.RLIM_INFINITY))


@contextmanager
def limited_time() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome_of(call: Callable[[], object], refusals: tuple[type[Exception], ...]) -> Outcome:
    """What becomes of call(), which may raise `refusals`, with a message, and nothing else."""
    try:
        with limited_time(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = call()
    except Hang:
        return Outcome("hang", f"after {SECONDS} s")
    except MemoryError:
        return Outcome("memory", traceback.format_exc(limit=-3))
    except Nonsense as error:
        return Outcome("nonsense", str(error))
    except refusals as error:
        message = str(error)
        is_said = message.strip() and len(message) < MOST_LINES * LONGEST_LINE
        return Outcome("refused", message) if is_said else Outcome("traceback", repr(error)[:500])
    except BaseException:
        return Outcome("traceback", traceback.format_exc(limit=-4))
    if said is not None:
        return said if isinstance(said, Outcome) else Outcome("accepted", repr(said))
    return Outcome("accepted")


def command(*arguments: object, stdin: bytes = b"", is_json: bool = True) -> Outcome:
    """What becomes of `npbert …`; what it prints when it succeeds must be JSON lines, unless it is no such command."""
    out, err = io.BytesIO(), io.BytesIO()
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"),
        "stdout": io.TextIOWrapper(out, encoding="utf-8", write_through=True),
        "stderr": io.TextIOWrapper(err, encoding="utf-8", errors="backslashreplace", write_through=True),
    }
    with mock.patch.multiple(sys, **streams):
        try:
            status: Any = main([str(argument) for argument in arguments])
        except SystemExit as exit:
            status = exit.code
    said = err.getvalue().decode(errors="replace")
    check_text(said)
    if status in (1, 2):
        if "npbert" not in said:
            raise Nonsense(f"it failed with {status} and said {said!r}")
        return Outcome("memory" if "not enough memory" in said else "refused", said)
    if status != 0:
        raise Nonsense(f"the status is {status}: {said}")
    if is_json:
        for line in out.getvalue().decode().splitlines():
            json.loads(line, parse_constant=_refuse_constant)
    return Outcome("accepted", said)


def check_text(said: str) -> None:
    if "Traceback" in said:
        raise Nonsense(said)
    lines = said.splitlines()
    if len(lines) > MOST_LINES or max(map(len, lines), default=0) > LONGEST_LINE:
        raise Nonsense(f"{len(lines)} lines, the longest of {max(map(len, lines))} characters: {said[:300]}…")
    escape = re.search(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f\x9b]", said)
    if escape:
        raise Nonsense(f"a control character reaches the terminal: {said!r:.500}")


def _refuse_constant(name: str) -> None:
    raise Nonsense(f"{name} is not JSON")
