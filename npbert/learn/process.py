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
from bdb import BdbQuit
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from npbert.gradcheck.explain import Finding
from npbert.learn.answer_file import Printed, judge_file
from npbert.learn.exercise import Exercise
from npbert.learn.variants import ALL
from npbert.learn.verdict import Verdict

TIME_LIMIT = 20.0
"""The limit in seconds for the learner's code, which normally takes a second."""

MEMORY_LIMIT = 4 * 2**30
"""Its limit of memory in bytes, if the system supports one."""

_ALL = 300.0  # seconds for the whole check, with the search for an edit
_CODE = "import sys; from npbert.learn.process import run; run(*sys.argv[1:])"
ANSWER, STACK, PRINTED = FILES = "answer.json", "stack.txt", "printed.txt"


def check(exercise: Exercise, path: Path, time_limit: float = TIME_LIMIT) -> Verdict:
    """Return the verdict on the file. Raises: OSError if no process can be started."""
    home = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH", ""))))
    more = {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", _CODE, str(exercise.number), str(path.resolve()), str(time_limit), folder],
            env={**os.environ, **more, "PYTHONBREAKPOINT": f"{__name__}.no_breakpoint"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            ended = f"crashed (status {process.wait(_ALL)})"
        except subprocess.TimeoutExpired:
            ended = f"was stopped after {_ALL:g} seconds"
        finally:  # also after Ctrl-C, the process and what it started are stopped
            with contextlib.suppress(OSError, AttributeError):  # Windows has no groups
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
        answer, stack, printed = (_text(Path(folder, name)) for name in FILES)
    if answer:
        values = json.loads(answer)
        return Verdict(**{**values, "findings": tuple(Finding(**finding) for finding in values["findings"])})
    if stack:
        return _endless(path, stack, time_limit, printed)
    return Verdict(f"Running the file {ended}.", printed=printed)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _endless(path: Path, stack: str, time_limit: float, printed: str) -> Verdict:
    found = re.search(rf'File ".*{re.escape(path.name)}", line (\d+)', stack)
    line = int(found[1]) if found else 0
    code = linecache.getline(str(path.resolve()), line).strip()
    small = "The arrays are tiny: even loops over every number take less than a second."
    says = f"The check was stopped after {time_limit:g} seconds, at line {line}: perhaps in an endless loop."
    return Verdict(says, f"{line:>4}:  {code}\n\n{small}", printed=printed)


def run(number: str, path: str, time_limit: str, name: str) -> NoReturn:
    """In the new process, check the file and write the verdict.

    faulthandler records the line of an endless call, as no Python thread runs during a call such as sum(range(10**15)).
    The search for an edit counts its runs, and ends this limit.
    """
    exercise, folder = ALL[int(number)], Path(name)
    _limit_memory()
    with (folder / STACK).open("w", encoding="utf-8") as stack, (folder / PRINTED).open("w") as copy:
        faulthandler.dump_traceback_later(float(time_limit), exit=True, file=stack)
        verdict = judge_file(exercise, Path(path), Printed(copy))
        faulthandler.cancel_dump_traceback_later()
    (folder / ANSWER).write_text(json.dumps(asdict(verdict)), encoding="utf-8")
    os._exit(0)  # the learner's threads may still run


def no_breakpoint(*_: Any, **__: Any) -> NoReturn:
    """Stop at breakpoint(), as there is no keyboard."""
    raise BdbQuit


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MEMORY_LIMIT if hard == resource.RLIM_INFINITY else min(MEMORY_LIMIT, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
