"""judge_file: runs and checks a learner's file, in the process of the learner's code."""

import ast
import contextlib
import io
from dataclasses import replace
from functools import partial
from pathlib import Path

from npbert.io import FileError, printable, read_text
from npbert.learn.blank import Blank
from npbert.learn.exercise import Exercise
from npbert.learn.failure import Failure, attempt, load
from npbert.learn.judge import judge
from npbert.learn.source import definitions
from npbert.learn.verdict import NOT_BEGUN, RIGHT, Verdict, in_turn

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
    return Verdict(says, because, verdict.findings, verdict.status, said)


def _judged(exercise: Exercise, path: Path) -> Verdict:
    try:
        text = read_text(path)
        is_begun = is_begun_in(exercise, text)
        module = load(path, text)
    except SyntaxError as error:
        return _syntax(error, path)
    except FileError as error:
        return Verdict(str(error))
    if not is_begun:
        return Verdict(status=NOT_BEGUN)
    if isinstance(module, Failure):
        return module
    wrong: list[Verdict] = []
    right: list[str] = []
    for blank in exercise.blanks:
        verdict = _lost(exercise, blank, text, path)
        if verdict is not None:
            return verdict
        thing, node = getattr(module, blank.name), definitions(text).get(blank.name)
        verdict = attempt(partial(judge, blank, thing, node), str(path))
        if verdict is None:
            right.append(blank.name)
        else:
            is_named = len(exercise.blanks) == 1 or blank.name in verdict.says
            wrong.append(verdict if is_named else replace(verdict, says=f"{blank.name}: {verdict.says}"))
            blank.put_into(module)
    so_far = f"{', '.join(right)} {'is' if len(right) == 1 else 'are'} right." if right else ""
    return in_turn(wrong).because_of(so_far) if wrong else Verdict(status=RIGHT)


def _lost(exercise: Exercise, blank: Blank, text: str, path: Path) -> Verdict | None:
    """Return the verdict if a blank, or one of its methods, was removed from the file."""
    there = definitions(text)
    for name in definitions(exercise.source):
        if name.partition(".")[0] == blank.name and name not in there:
            return Verdict(f"{name} is missing in {path.name}.", _AGAIN)
    return None


def is_begun_in(exercise: Exercise, text: str) -> bool:
    """True if any blank differs from the original file. Raises: SyntaxError."""
    given, made = definitions(text), definitions(exercise.source)
    return any(name not in given or _code_of(given[name]) != _code_of(made[name]) for name in exercise.written)


def _code_of(node: ast.stmt) -> str:
    """Return the code without docstrings and comments."""
    if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
        return "\n".join(map(ast.dump, node.body[1:]))
    return ast.dump(node)


def _syntax(error: SyntaxError, path: Path) -> Verdict:
    line = (error.text or "").strip().split("\n")[0]  # only the first line of a triple-quoted text
    shown = f"{error.lineno or 0:>4}:  {line}" if line else ""
    name = path.name if path.suffix else path.name.capitalize()
    return Verdict(f"{name} is not valid Python yet: {error.msg}, in line {error.lineno}.", shown)
