"""judge_file: runs and checks a learner's file. check: does so in a separate process, with limits of time, memory and
output, and ends it.

What the learner's code itself starts is ended with it, except on Windows, which has no groups of processes.
"""

import ast
import contextlib
import faulthandler
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from npbert.gradcheck import Finding
from npbert.io import FileError, printable, read_text
from npbert.learn.blank import definitions
from npbert.learn.exercise import Exercise
from npbert.learn.exercises import ALL
from npbert.learn.failure import attempt, load
from npbert.learn.judge import judge
from npbert.learn.verdict import NOT_BEGUN, RIGHT, Verdict, are_right, sentence

MOST_PRINTED = 2000
_AGAIN = (
    "The original file has it. To start again, rename your file and run `npbert learn`; in a notebook, run %exercise "
    "with its number."
)
COMPUTING, WAITING = 20.0, 300.0
"""The most seconds that the learner's code may compute, normally one; and for the whole check, with the search for an
edit, by the clock. A busy machine does not use up the first, which Windows does not have."""
MEMORY_LIMIT = 4 * 2**30
"""In bytes, if the system supports a limit."""


class Printed(io.StringIO):
    """A stream that keeps the beginning of its text."""

    def write(self, text: str) -> int:
        super().write(text[: max(0, MOST_PRINTED - self.tell())])
        return len(text)


def check(exercise: Exercise, path: Path, computing: float = COMPUTING, waiting: float = WAITING) -> Verdict:
    """Return the verdict on the file. Raises: OSError if no process can be started."""
    given = exercise.number, str(path.resolve()), computing, waiting
    paths = [*sys.path, str(Path(__file__).parents[2])]
    code = f"import sys; sys.path[:] = {paths}; from npbert.learn.process import run; run{given}"
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
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
        output.seek(0)
        said = output.read().decode(errors="replace")
    if said.startswith("{"):
        values = json.loads(said)
        findings = [Finding(**each) for each in values.pop("findings")]
        return Verdict(**values, findings=findings)
    if said:
        return _endless(path, said)
    return Verdict(f"Running the file crashed (status {process.returncode}).")


def _endless(path: Path, stack: str) -> Verdict:
    where = shown = ""
    if found := re.search(rf'File ".*{re.escape(path.name)}", line (\d+)', stack):
        code = path.read_text(encoding="utf-8", errors="replace").splitlines()[int(found[1]) - 1].strip()
        where = f" in line {found[1]}"
        shown = f"{found[1]:>4}:  {code}"
    small = "The arrays are tiny: even loops over every number take less than a second."
    return Verdict(f"The check was stopped{where}: perhaps an endless loop.").because_of(shown, small)


def run(number: int, path: str, computing: float, waiting: float) -> NoReturn:
    """In the new process, check the file and write the verdict to standard output.

    faulthandler ends it and writes its stack there, as no Python thread runs during a call such as sum(range(10**15)).
    """
    output = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what the learner's code writes
    faulthandler.dump_traceback_later(waiting, exit=True, file=output)
    with contextlib.suppress(AttributeError, ValueError, OSError):  # Windows; or less memory is allowed already
        faulthandler.register(signal.SIGPROF, file=output, chain=True)
        signal.setitimer(signal.ITIMER_PROF, computing)
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, resource.getrlimit(resource.RLIMIT_AS)[1]))
    verdict = judge_file(ALL[number], Path(path))
    os.write(output, json.dumps(asdict(verdict)).encode())
    os._exit(0)  # the learner's threads may still run


def judge_file(exercise: Exercise, path: Path) -> Verdict:
    """Run and check the file. The verdict has up to MOST_PRINTED characters of its output."""
    printed = Printed()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        verdict = _judged(exercise, path)
    return replace(
        verdict,
        says=printable(verdict.says),
        because=printable(verdict.because),
        printed=printable(printed.getvalue()),
    )


def _judged(exercise: Exercise, path: Path) -> Verdict:
    try:
        text = read_text(path)
        given, made = definitions(text), definitions(exercise.source)
        module = load(path, text)
    except SyntaxError as error:
        line = (error.text or "").strip().split("\n")[0]  # only the first line of a triple-quoted text
        shown = f"{error.lineno or 0:>4}:  {line}" if line else ""
        return Verdict(sentence(f"{path.name} is not valid Python yet: {error.msg}, in line {error.lineno}"), shown)
    except FileError as error:
        return Verdict(str(error))
    if all(name in given and ast.dump(given[name]) == ast.dump(made[name]) for name in exercise.written):
        return Verdict(status=NOT_BEGUN)
    called = [name for name in made if name.endswith(".forward") or f".{name.rpartition('.')[2]}(" in text]
    lost = [name for name in (*exercise.written, *called) if name not in given]
    if isinstance(module, Verdict):
        return module
    return Verdict(f"{lost[0]} is missing in {path.name}.", _AGAIN) if lost else _of_blanks(exercise, module)


def _of_blanks(exercise: Exercise, module: ModuleType) -> Verdict:
    said, right, findings = list[str](), list[str](), list[Finding]()
    for blank in exercise.blanks:
        verdict = attempt(partial(judge, blank, module), str(module.__file__))
        if verdict is None:
            right.append(blank.name)
        else:
            of = f"{blank.name}: " * (len(exercise.blanks) > 1)
            said += [f"{of}{verdict.says}", verdict.because]
            findings += verdict.findings
    if not said:
        return Verdict(status=RIGHT)
    return Verdict(said[0], findings=findings).because_of(*said[1:], are_right(right))
