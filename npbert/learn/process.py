"""check: judge a file in a process of its own, with limits of time, memory and output, of which nothing is left."""

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
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from npbert.learn.exercise import Exercise
from npbert.learn.variants import ALL
from npbert.learn.verdict import WRONG, Printed, Verdict, from_json, judge_file

TIME_LIMIT = 10.0
"""Seconds for the learner's code."""

MEMORY_LIMIT = 4 * 2**30
"""Bytes of address space for it, where the system can limit them."""

_TO_START = 60.0  # seconds more, for Python and NumPy to be loaded on a busy machine
_TO_MEND = 20.0  # seconds more, for the edit that makes it right to be found
_CODE = "import sys; from npbert.learn.process import run; run(sys.argv[1:])"
_POLL = 0.02


def check(
    exercise: Exercise,
    path: Path,
    time_limit: float = TIME_LIMIT,
    at_once: Callable[[Verdict], object] = lambda verdict: None,
) -> Verdict:
    """The verdict on the file. at_once: called with the verdict on a wrong answer before its cause is looked for.

    Raises: OSError where no process can be started.
    """
    home = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH", ""))))
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder, nothing = Path(name), subprocess.DEVNULL
        process = subprocess.Popen(
            [sys.executable, "-c", _CODE, str(exercise.number), str(path.resolve()), str(time_limit), name],
            env=environment,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,
        )
        try:
            first = _waited_for(process, folder, time_limit + _TO_START + _TO_MEND, at_once)
        finally:  # after a Ctrl-C, too, the process is ended, and all that it started
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
        verdict = _read(folder / "answer.json") or first
        if verdict is not None:
            return verdict
        stopped_at, said = (_text(folder / file) for file in ("stack.txt", "printed.txt"))
    if process.returncode is not None and not stopped_at:
        return Verdict(WRONG, f"Python ended while it ran the file (status {process.returncode}).", printed=said)
    return _endless(path, stopped_at, time_limit, said)


def _waited_for(
    process: subprocess.Popen[bytes], folder: Path, seconds: float, at_once: Callable[[Verdict], object]
) -> Verdict | None:
    """Wait until the process ends. The first verdict is handed on as soon as it is there, and returned."""
    first, end = None, time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        if first is None:
            first = _read(folder / "first.json")
            if first is not None:
                at_once(first)
        time.sleep(_POLL)
    return first or _read(folder / "first.json")


def _read(path: Path) -> Verdict | None:
    return from_json(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _endless(path: Path, stack: str, time_limit: float, printed: str) -> Verdict:
    found = re.search(rf'File ".*{re.escape(path.name)}", line (\d+)', stack)
    line = int(found[1]) if found else 0
    code = linecache.getline(str(path.resolve()), line).strip()
    small = "The arrays are tiny, so that even loops over every number take less than a second."
    return Verdict(
        WRONG,
        f"After {time_limit:g} seconds it was still at {f'line {line}' if line else 'work'}: "
        "is there a loop that never ends?",
        f"{line:>4}:  {code}\n\n{small}" if code else small,
        printed,
    )


def run(arguments: list[str]) -> None:
    """In the new process: judge the file, and write the verdict; of a wrong answer once before it is mended."""
    number, path, time_limit, name = arguments
    folder, exercise = Path(name), ALL[int(number)]
    _limit_memory()
    with (folder / "stack.txt").open("w", encoding="utf-8") as file, (folder / "printed.txt").open("w") as copy:
        timer = threading.Timer(float(time_limit), _stop, [file])
        timer.daemon = True
        timer.start()
        # What never lets another thread run, like sum(range(10**15)), keeps the timer waiting, but not this one.
        faulthandler.dump_traceback_later(float(time_limit) + 2, exit=True, file=file)
        verdict = judge_file(exercise, Path(path), Printed(copy), mends=False)
        timer.cancel()
        faulthandler.cancel_dump_traceback_later()
        if verdict.status == WRONG:
            _write(verdict, folder / "first.json")
            faulthandler.dump_traceback_later(_TO_MEND, exit=True, file=file)
            verdict = judge_file(exercise, Path(path), Printed())
        _write(verdict, folder / "answer.json")
    os._exit(0)  # threads of the learner's may still run


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


def _stop(stack: TextIO) -> None:
    """End the process, and leave where the learner's code was: the innermost call first, as faulthandler writes it."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        stack.write(f'File "{frame.f_code.co_filename}", line {frame.f_lineno}\n')
        frame = frame.f_back
    stack.flush()
    os._exit(1)
