"""judge_file: runs and checks a learner's file, in the process of the learner's code."""

import ast
import contextlib
import io
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType

from npbert.io import FileError, printable, read_text
from npbert.learn.blank import definitions
from npbert.learn.exercise import Exercise
from npbert.learn.failure import attempt, load, sentence
from npbert.learn.judge import judge
from npbert.learn.verdict import NOT_BEGUN, RIGHT, Verdict, are_right

MOST_PRINTED = 2000
_AGAIN = (
    "The original file has it. To start again, rename your file and run `npbert learn`; in a notebook, run %exercise "
    "with its number."
)


class Printed(io.StringIO):
    """A stream that keeps the beginning of its text."""

    def write(self, text: str) -> int:
        super().write(text[: max(0, MOST_PRINTED - self.tell())])
        return len(text)


def judge_file(exercise: Exercise, path: Path) -> Verdict:
    """Run and check the file. The verdict has up to MOST_PRINTED characters of its output."""
    printed = Printed()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        verdict = _judged(exercise, path)
    says, because, said = map(printable, (verdict.says, verdict.because, printed.getvalue()))
    return replace(verdict, says=says, because=because, printed=said)


def _judged(exercise: Exercise, path: Path) -> Verdict:
    try:
        text = read_text(path)
        given, made = definitions(text), definitions(exercise.source)
        module = load(path, text)
    except SyntaxError as error:
        return _syntax(error, path)
    except FileError as error:
        return Verdict(str(error))
    if all(name in given and ast.dump(given[name]) == ast.dump(made[name]) for name in exercise.written):
        return Verdict(status=NOT_BEGUN)
    called = [name for name in made if f".{name.rpartition('.')[2]}(" in f"{text} .forward("]  # which the check calls
    lost = [name for name in (*exercise.written, *called) if name not in given]
    if isinstance(module, Verdict):
        return module
    return Verdict(f"{lost[0]} is missing in {path.name}.", _AGAIN) if lost else _of_blanks(exercise, module)


def _of_blanks(exercise: Exercise, module: ModuleType) -> Verdict:
    verdicts = {blank.name: attempt(partial(judge, blank, module), str(module.__file__)) for blank in exercise.blanks}
    right = [name for name, verdict in verdicts.items() if verdict is None]
    wrong = [
        replace(verdict, says=f"{name}: {verdict.says}" if len(verdicts) > 1 else verdict.says)
        for name, verdict in verdicts.items()
        if verdict
    ]
    if not wrong:
        return Verdict(status=RIGHT)
    others = [text for each in wrong[1:] for text in (each.says, each.because)]
    findings = tuple(finding for each in wrong for finding in each.findings)
    return replace(wrong[0], findings=findings).because_of(*others, are_right(right))


def _syntax(error: SyntaxError, path: Path) -> Verdict:
    line = (error.text or "").strip().split("\n")[0]  # only the first line of a triple-quoted text
    shown = f"{error.lineno or 0:>4}:  {line}" if line else ""
    return Verdict(sentence(f"{path.name} is not valid Python yet: {error.msg}, in line {error.lineno}"), shown)
