"""check: checks a file in a separate process, with limits of time, memory and output, and ends it.

What the learner's code itself starts is ended with it, except on Windows, which has no groups of processes.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from npbert.gradcheck import Finding
from npbert.learn.answer_file import judge_file
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import ALL
from npbert.learn.limits import limit
from npbert.learn.verdict import Verdict

COMPUTING, WAITING = 20.0, 300.0
"""The most seconds that the learner's code may compute, normally one; and for the whole check, with the search for an
edit, by the clock."""

VERDICT, STACK = FILES = "verdict.json", "stack.txt"


def check(exercise: Exercise, path: Path, computing: float = COMPUTING, waiting: float = WAITING) -> Verdict:
    """Return the verdict on the file. Raises: OSError if no process can be started."""
    home = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH", ""))))
    more = {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        given = exercise.number, str(path.resolve()), computing, waiting, folder
        process = subprocess.Popen(
            [sys.executable, "-c", f"from npbert.learn.process import run; run{given}"],
            env={**os.environ, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait()
        finally:  # also after Ctrl-C
            with contextlib.suppress(OSError, AttributeError):  # Windows has no groups
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
        verdict, stack = (_text(Path(folder, name)) for name in FILES)
    if verdict:
        values = json.loads(verdict)
        return Verdict(**{**values, "findings": tuple(Finding(**finding) for finding in values["findings"])})
    if stack:
        return _endless(path, stack)
    return Verdict(f"Running the file crashed (status {process.returncode}).")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _endless(path: Path, stack: str) -> Verdict:
    where = shown = ""
    if found := re.search(rf'File ".*{re.escape(path.name)}", line (\d+)', stack):
        code = _text(path).splitlines()[int(found[1]) - 1].strip()
        where = f" in line {found[1]}"
        shown = f"{found[1]:>4}:  {code}"
    small = "The arrays are tiny: even loops over every number take less than a second."
    return Verdict(f"The check was stopped{where}: perhaps an endless loop.").because_of(shown, small)


def run(number: int, path: str, computing: float, waiting: float, folder: str) -> NoReturn:
    """In the new process, check the file and write the verdict."""
    with Path(folder, STACK).open("w", encoding="utf-8") as stack:
        limit(computing, waiting, stack)
        verdict = judge_file(ALL[number], Path(path))
        Path(folder, VERDICT).write_text(json.dumps(asdict(verdict)), encoding="utf-8")
        os._exit(0)  # the learner's threads may still run
