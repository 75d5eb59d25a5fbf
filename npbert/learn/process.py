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
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import NoReturn, TextIO

from npbert.learn.descendants import adopts_orphans, descendants, end_all
from npbert.learn.exercise import Exercise, paragraphs
from npbert.learn.variants import ALL
from npbert.learn.verdict import WRONG, Printed, Verdict, from_json, judge_file

TIME_LIMIT = 10.0
"""Seconds for one call of the learner's code, which takes milliseconds: it ends what does not come back."""

MEMORY_LIMIT = 4 * 2**30
"""Bytes of address space for it, where the system can limit them."""

_ALL = 300.0  # seconds for everything, if each call comes back, and yet there is no end
_CODE = "import sys; from npbert.learn.process import run; run(sys.argv[1:])"
_POLL = 0.02
ANSWER = "answer.json"


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
            first = _waited_for(process, folder, at_once)
            is_late = process.poll() is None
        finally:  # after a Ctrl-C, too, the process is ended, and all that it started
            end_all(process.pid)
            with contextlib.suppress(OSError, AttributeError):  # Windows has no groups
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
        verdict = _read(folder / ANSWER)
        if verdict is not None:
            return verdict
        stopped_at, said = (_text(folder / file) for file in ("stack.txt", "printed.txt"))
    ended = f"was ended after {_ALL:g} seconds" if is_late else f"broke off (status {process.returncode})"
    if first is not None:
        return replace(
            first, because=paragraphs(first.because, f"The search for a change that makes it right {ended}.")
        )
    if stopped_at:
        return _endless(path, stopped_at, time_limit, said)
    return Verdict(WRONG, f"Running the file {ended}.", printed=said)


def _waited_for(process: subprocess.Popen[bytes], folder: Path, at_once: Callable[[Verdict], object]) -> Verdict | None:
    """Wait until the process ends. The first verdict is handed on as soon as it is there, and returned."""
    first, is_over, end = None, False, time.monotonic() + _ALL
    while not is_over:
        is_over = process.poll() is not None or time.monotonic() > end
        if first is None:
            first = _read(folder / "first.json")
            if first is not None:
                at_once(first)
        time.sleep(0 if is_over else _POLL)
    return first


def _read(path: Path) -> Verdict | None:
    return from_json(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _endless(path: Path, stack: str, time_limit: float, printed: str) -> Verdict:
    found = re.search(rf'File ".*{re.escape(path.name)}", line (\d+)', stack)
    line = int(found[1]) if found else 0
    code = linecache.getline(str(path.resolve()), line).strip()
    small = "The arrays are tiny, so that even loops over every number take less than a second."
    says = f"One call was ended after {time_limit:g} seconds, at line {line}: is there a loop that never ends?"
    return Verdict(WRONG, says, f"{line:>4}:  {code}\n\n{small}", printed)


def run(arguments: list[str]) -> None:
    """In the new process: one more judges the file, and this one ends it, and all that it has started."""
    number, path, time_limit, name = arguments
    judge = os.fork() if adopts_orphans() else 0
    if judge:
        _guard(judge, Path(name))
    _judge(ALL[int(number)], Path(path), float(time_limit), Path(name))


def _judge(exercise: Exercise, path: Path, time_limit: float, folder: Path) -> NoReturn:
    """Judge the file, and write the verdict; of a wrong answer once before it is mended."""
    _limit_memory()
    with (folder / "stack.txt").open("w", encoding="utf-8") as file, (folder / "printed.txt").open("w") as copy:
        watch = _Watch(str(path), time_limit, file)
        verdict = judge_file(exercise, path, Printed(copy), mends=False)
        watch.end()
        if verdict.status == WRONG:
            _write(verdict, folder / "first.json")
            verdict = judge_file(exercise, path, Printed())
        _write(verdict, folder / ANSWER)
    os._exit(0)  # threads of the learner's may still run


def _guard(judge: int, folder: Path) -> NoReturn:
    """Wait until the judge ends, and end it where it and all that it started take too much memory together."""
    ended, status = 0, 0
    while ended != judge:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == 0 and sum(descendants(os.getpid()).values()) > MEMORY_LIMIT:
            says = f"Running the file was ended, as it took more than {MEMORY_LIMIT / 2**30:g} GiB of memory."
            _write(Verdict(WRONG, says, "It and the processes that it started are counted together."), folder / ANSWER)
            os.kill(judge, signal.SIGKILL)
        time.sleep(0 if ended else _POLL)
    end_all(os.getpid())
    os._exit(os.waitstatus_to_exitcode(status) & 255)


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
    """Ends the process where one call of the learner's code takes longer than the limit, and leaves where it was.

    The end itself is faulthandler's: while something like sum(range(10**15)) runs, no thread of Python's does.
    """

    def __init__(self, path: str, limit: float, stack: TextIO) -> None:
        super().__init__(daemon=True)
        self.path, self.limit, self.stack, self.is_over = path, limit, stack, threading.Event()
        self.start()

    def run(self) -> None:
        """Begin to wait anew whenever another call has begun."""
        call: FrameType | None = None
        while not self.is_over.is_set():
            now = self._call()
            if now is None or now is not call:
                faulthandler.dump_traceback_later(self.limit, exit=True, file=self.stack)
            call = now
            self.is_over.wait(_POLL)
        faulthandler.cancel_dump_traceback_later()

    def _call(self) -> FrameType | None:
        """The outermost frame of the main thread that is in the learner's file."""
        frame, found = sys._current_frames().get(threading.main_thread().ident or 0), None
        while frame is not None:
            found = frame if frame.f_code.co_filename == self.path else found
            frame = frame.f_back
        return found

    def end(self) -> None:
        """Watch no more."""
        self.is_over.set()
        self.join()
