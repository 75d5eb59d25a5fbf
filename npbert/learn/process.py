"""check: checks a file in a separate process, with limits of time, memory and output, and leaves nothing running."""

import contextlib
import faulthandler
import json
import linecache
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from bdb import BdbQuit
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TextIO

from npbert.gradcheck.explain import Finding
from npbert.learn.answer_file import Printed, judge_file
from npbert.learn.exercise import Exercise
from npbert.learn.variants import ALL
from npbert.learn.verdict import WRONG, Verdict

TIME_LIMIT = 10.0
"""The limit in seconds for a call of the learner's code, which normally takes milliseconds."""

MEMORY_LIMIT = 4 * 2**30
"""Its limit of memory in bytes, if the system supports one."""

_ALL = 300.0  # seconds for the whole check, if each call returns in time
_CODE = "import sys; from npbert.learn.process import run; run(*sys.argv[1:])"
_POLL, _MOST_TRIES = 0.02, 100
_MARK = "NPBERT_CHECK"
FIRST, ANSWER = "first.json", "answer.json"


def check(
    exercise: Exercise,
    path: Path,
    time_limit: float = TIME_LIMIT,
    at_once: Callable[[Verdict], object] = lambda verdict: None,
) -> Verdict:
    """Return the verdict on the file. at_once: called with the verdict on a wrong answer before the search for its
    cause.

    Raises: OSError if no process can be started.
    """
    home = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH", ""))))
    with tempfile.TemporaryDirectory() as name:
        folder, nothing = Path(name), subprocess.DEVNULL
        more = {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", _MARK: name}
        process = subprocess.Popen(
            [sys.executable, "-c", _CODE, str(exercise.number), str(path.resolve()), str(time_limit), name],
            env={**os.environ, **more, "PYTHONBREAKPOINT": f"{__name__}.no_breakpoint"},
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,
        )
        try:
            ended = _waited_for(process, folder, at_once)
        finally:  # also after Ctrl-C, the process and all that it started are stopped
            _end(process, name)
        first, verdict = _read(folder / FIRST), _read(folder / ANSWER)
        stopped_at, said = (_text(folder / file) for file in ("stack.txt", "printed.txt"))
    if verdict is not None:
        return verdict
    if first is not None:
        return first.because_of(f"The search for a change that makes it right {ended}.")
    if stopped_at:
        return _endless(path, stopped_at, time_limit, said)
    return Verdict(f"Running the file {ended}.", printed=said)


def _waited_for(process: subprocess.Popen[bytes], folder: Path, at_once: Callable[[Verdict], object]) -> str:
    """Wait until the process ends or is stopped, and return how it ended. Pass on the first verdict at once."""
    is_told, start = False, time.monotonic()
    while True:
        status = process.poll()
        if not is_told and (first := _read(folder / FIRST)):
            is_told = True
            at_once(first)
        if status is not None:
            return f"crashed (status {status})"
        if time.monotonic() - start > _ALL:
            return f"was stopped after {_ALL:g} seconds"
        if sum(_started(str(folder)).values()) > MEMORY_LIMIT:
            return f"was stopped, as it took more than {MEMORY_LIMIT / 2**30:g} GiB of memory"
        time.sleep(_POLL)


def _started(mark: str) -> dict[int, int]:
    """Return the processes with the mark in their inherited environment, and the bytes of memory of each. {} without
    /proc."""
    found = {}
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # it has ended, or belongs to another user
            if mark.encode() in environment.read_bytes():
                pages = (environment.parent / "statm").read_text().split()[1]
                found[int(environment.parent.name)] = int(pages) * os.sysconf("SC_PAGE_SIZE")
    return found


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    with contextlib.suppress(OSError, AttributeError):  # Windows has no groups
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    for _ in range(_MOST_TRIES):  # a stopped process may have started another
        running = _started(mark)
        for pid in running:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not running:
            return
        time.sleep(_POLL)


def _read(path: Path) -> Verdict | None:
    if not path.exists():
        return None
    values = json.loads(path.read_text(encoding="utf-8"))
    return Verdict(**{**values, "findings": tuple(Finding(**finding) for finding in values["findings"])})


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _endless(path: Path, stack: str, time_limit: float, printed: str) -> Verdict:
    found = re.search(rf'File ".*{re.escape(path.name)}", line (\d+)', stack)
    line = int(found[1]) if found else 0
    code = linecache.getline(str(path.resolve()), line).strip()
    small = "The arrays are tiny: even loops over every number take less than a second."
    says = f"A call was stopped after {time_limit:g} seconds, at line {line}: perhaps in an endless loop."
    return Verdict(says, f"{line:>4}:  {code}\n\n{small}", printed=printed)


def run(number: str, path: str, time_limit: str, name: str) -> NoReturn:
    """In the new process, check the file and write the verdict; for a wrong answer also before the search for an
    edit."""
    exercise, folder = ALL[int(number)], Path(name)
    _limit_memory()
    with (folder / "stack.txt").open("w", encoding="utf-8") as file, (folder / "printed.txt").open("w") as copy:
        watch = _Watch(path, float(time_limit), file)
        verdict = judge_file(exercise, Path(path), Printed(copy), mends=False)
        watch.end()
        if verdict.status == WRONG:
            _write(verdict, folder / FIRST)
            verdict = judge_file(exercise, Path(path))
        _write(verdict, folder / ANSWER)
    os._exit(0)  # the learner's threads may still run


def no_breakpoint(*_: Any, **__: Any) -> NoReturn:
    """Stop at breakpoint(), as there is no keyboard."""
    raise BdbQuit


def _write(verdict: Verdict, path: Path) -> None:
    unfinished = Path(f"{path}.part")
    unfinished.write_text(json.dumps(asdict(verdict)), encoding="utf-8")
    unfinished.replace(path)


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MEMORY_LIMIT if hard == resource.RLIM_INFINITY else min(MEMORY_LIMIT, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


class _Watch(threading.Thread):
    """Stops the process if a call of the learner's code exceeds the limit, and records its line.

    faulthandler stops it, as no Python thread runs during a call such as sum(range(10**15)).
    """

    def __init__(self, path: str, limit: float, stack: TextIO) -> None:
        super().__init__(daemon=True)
        self.path, self.limit, self.stack, self.is_over = path, limit, stack, threading.Event()
        self.start()

    def run(self) -> None:
        """Restart the wait at each new call."""
        call: FrameType | None = None
        while not self.is_over.is_set():
            now = self._call()
            if now is None or now is not call:
                faulthandler.dump_traceback_later(self.limit, exit=True, file=self.stack)
            call = now
            self.is_over.wait(_POLL)
        faulthandler.cancel_dump_traceback_later()

    def _call(self) -> FrameType | None:
        """Return the outermost frame of the main thread in the learner's file."""
        frame, found = sys._current_frames().get(threading.main_thread().ident or 0), None
        while frame is not None:
            found = frame if frame.f_code.co_filename == self.path else found
            frame = frame.f_back
        return found

    def end(self) -> None:
        """Stop watching."""
        self.is_over.set()
        self.join()
