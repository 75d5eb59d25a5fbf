"""check: judge a file in a process of its own, so that nothing it does can harm, and an endless loop ends."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import linecache
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TextIO

from npbert.learn.exercise import Exercise
from npbert.learn.exercises import EXERCISES
from npbert.learn.verdict import WRONG, Printed, Verdict, as_json, judge_file

TIME_LIMIT = 10.0
"""Seconds for the learner's code."""

_TO_START = 60.0  # seconds more, for Python and NumPy to be loaded on a busy machine
_CODE = "import sys; from npbert.learn.process import run; run(sys.argv[1:])"


def check(exercise: Exercise, path: Path, time_limit: float = TIME_LIMIT) -> Verdict:
    """What is to be said of the file. Raises: OSError where no process can be started."""
    home = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH", ""))))
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        answer, stack, printed = (Path(folder, name) for name in ("answer.json", "stack.txt", "printed.txt"))
        given = [str(exercise.number), str(path.resolve()), str(time_limit), *map(str, (answer, stack, printed))]
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(
            [sys.executable, "-c", _CODE, *given], env=environment, stdin=nothing, stdout=nothing, stderr=nothing
        )
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(time_limit + _TO_START)
            status = process.poll()
        finally:  # after a Ctrl-C, too
            process.kill()
            process.wait()
        if answer.exists():
            return Verdict(**json.loads(answer.read_text(encoding="utf-8")))
        stopped_at, said = (
            file.read_text(encoding="utf-8", errors="replace") if file.exists() else "" for file in (stack, printed)
        )
    if status is not None and not stopped_at:
        return Verdict(WRONG, f"Python ended while it ran the file (status {status}).", printed=said)
    return _endless(path, stopped_at, time_limit, said)


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
    """In the new process: judge the file, and write the verdict."""
    number, path, time_limit, answer, stack, printed = arguments
    with Path(stack).open("w", encoding="utf-8") as file, Path(printed).open("w", encoding="utf-8") as copy:
        timer = threading.Timer(float(time_limit), _stop, [file])
        timer.daemon = True
        timer.start()
        # What never lets another thread run, like sum(range(10**15)), keeps the timer waiting, but not this one.
        faulthandler.dump_traceback_later(float(time_limit) + 2, exit=True, file=file)
        verdict = judge_file(EXERCISES[int(number)], Path(path), Printed(copy))
        timer.cancel()
        faulthandler.cancel_dump_traceback_later()
    unfinished = Path(f"{answer}.part")
    unfinished.write_text(json.dumps(as_json(verdict)), encoding="utf-8")
    unfinished.replace(answer)


def _stop(stack: TextIO) -> None:
    """End the process, and leave where the learner's code was: the innermost call first, as faulthandler writes it."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        stack.write(f'File "{frame.f_code.co_filename}", line {frame.f_lineno}\n')
        frame = frame.f_back
    stack.flush()
    os._exit(1)
