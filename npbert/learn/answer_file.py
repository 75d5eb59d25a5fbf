"""judge_file: runs and checks a learner's file, in the process of the learner's code."""

import ast
import contextlib
import io
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TextIO

from npbert.io.files import FileError, read_text
from npbert.io.messages import printable
from npbert.learn.exercise import Exercise, Part
from npbert.learn.failure import Failure, failure_of, load
from npbert.learn.judge import judge
from npbert.learn.source import definitions
from npbert.learn.verdict import NOT_BEGUN, RIGHT, Verdict

MOST_PRINTED = 2000
_AGAIN = "The original file has it. To start again, rename your file and run `npbert learn`."
_AGAIN_IN_A_CELL = "For a new cell to start with, run %exercise {}."


class Printed(io.StringIO):
    """A stream that keeps the beginning of its text. copy: a second file for it."""

    def __init__(self, copy: TextIO | None = None) -> None:
        super().__init__()
        self.copy = copy

    def write(self, text: str) -> int:
        kept = text[: max(0, MOST_PRINTED - self.tell())]
        super().write(kept)
        if self.copy is not None and kept:
            self.copy.write(kept)
            self.copy.flush()
        return len(text)


def judge_file(exercise: Exercise, path: Path, printed: Printed | None = None, *, mends: bool = True) -> Verdict:
    """Run and check the file. With `mends`, also search the edit that makes a wrong answer right, which takes longer.

    The verdict, and `printed`, have up to MOST_PRINTED characters of its output."""
    printed = Printed() if printed is None else printed
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        verdict = _judged(exercise, path, mends)
    says, because, said = map(printable, (verdict.says, verdict.because, printed.getvalue()))
    return replace(verdict, says=says, because=because, printed=said)


def _judged(exercise: Exercise, path: Path, mends: bool) -> Verdict:
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
        return module.verdict
    names = [part.name for part in exercise.parts]
    for number, part in enumerate(exercise.parts):
        verdict = _lost(exercise, part, module, text, path)
        if verdict is None:
            try:
                verdict = judge(part, getattr(module, part.name), mends=mends)
            except Exception as error:  # the result cannot be compared
                verdict = failure_of(error, str(path)).verdict
        if verdict is not None:
            is_named = len(names) == 1 or part.name in verdict.says
            says = verdict.says if is_named else f"{part.name}: {verdict.says}"
            so_far = f"{', '.join(names[:number])} is right." if number else ""
            return replace(verdict, says=says, part=part.name).because_of(so_far)
    return Verdict(status=RIGHT)


def _lost(exercise: Exercise, part: Part, module: ModuleType, text: str, path: Path) -> Verdict | None:
    """Return the verdict if a part, or one of its methods, was removed from the file."""
    again = _AGAIN if path.suffix else _AGAIN_IN_A_CELL.format(exercise.code)
    thing, is_class = getattr(module, part.name, None), isinstance(part.right, type)
    if thing is None or (is_class and not isinstance(thing, type)):
        kind = "class" if is_class else "function" if callable(part.right) else "name"
        return Verdict(f"The {kind} {part.name} is missing in {path.name}.", again)
    lost = definitions(exercise.source).keys() - definitions(text)
    methods = [name.partition(".")[2] for name in lost if name.startswith(f"{part.name}.")]
    return Verdict(f"{part.name} has lost its {methods[0]}.", again) if methods else None


def is_begun_in(exercise: Exercise, text: str) -> bool:
    """True if any blank differs from the original file. Raises: SyntaxError."""
    given, made = definitions(text), definitions(exercise.source)
    return any(name not in given or _code_of(given[name]) != _code_of(made[name]) for name in exercise.blanks)


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
