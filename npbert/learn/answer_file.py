"""judge_file: run a learner's file and judge it, in the process that runs the learner's code."""

import ast
import contextlib
import io
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from npbert.io.files import FileError, read_text
from npbert.io.messages import printable
from npbert.learn.attempt import Failure, failure_of, load
from npbert.learn.exercise import Exercise, Part
from npbert.learn.judge import judge
from npbert.learn.source import definitions
from npbert.learn.verdict import NOT_BEGUN, RIGHT, Verdict, paragraphs

MOST_PRINTED = 2000
_AGAIN = "The file was made with it. To start again, rename the file and run `npbert learn`."
_AGAIN_IN_A_CELL = "A cell to begin with is put below by %exercise {}."


class Printed(io.StringIO):
    """Keeps the beginning of what is printed. copy: a file that gets it, too."""

    def __init__(self, copy: TextIO | None = None) -> None:
        super().__init__()
        self.copy = copy

    def write(self, text: str) -> int:
        room = MOST_PRINTED - self.tell()
        kept = text if len(text) <= room else f"{text[:room]} …" if room > 0 else ""
        super().write(kept)
        if self.copy is not None and kept:
            self.copy.write(kept)
            self.copy.flush()
        return len(text)


def judge_file(exercise: Exercise, path: Path, printed: Printed | None = None, *, mends: bool = True) -> Verdict:
    """Run the file and judge it; with `mends`, look for the edit that makes a wrong one right, which takes longer.
    Whatever it prints is in the verdict, and in `printed`, up to MOST_PRINTED characters."""
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
        verdict = _lost(exercise, part, module, text, path) or _of_part(exercise, part, module, path, mends)
        if verdict is not None:
            is_named = len(names) == 1 or part.name in verdict.says
            says = verdict.says if is_named else f"{part.name}: {verdict.says}"
            so_far = f"{', '.join(names[:number])} is right." if number else ""
            return replace(verdict, says=says, part=part.name).because_of(so_far)
    remarks = [part.remarks(getattr(module, part.name)) for part in exercise.parts]
    return Verdict(because=paragraphs(*remarks), status=RIGHT)


def _of_part(exercise: Exercise, part: Part, module: ModuleType, path: Path, mends: bool) -> Verdict | None:
    """What is wrong with one part, None if nothing is."""
    try:
        return judge(part, getattr(module, part.name), mends=mends)
    except NotImplementedError as error:
        what = part.name if len(exercise.parts) > 1 else "It"
        line = failure_of(error, str(path)).line or error.args[0]
        return Verdict(
            f"{what} is not finished: the `raise NotImplementedError`{f' in line {line}' if line else ''} is still "
            "there.",
            "It stands for what is yours to write. Once that is written, take the line out.",
        )
    except Exception as error:  # what came out is nothing that can be compared
        return failure_of(error, str(path)).verdict


def _lost(exercise: Exercise, part: Part, module: ModuleType, text: str, path: Path) -> Verdict | None:
    """The verdict where the file had a part, or a method of it, when it was made, and has it no more."""
    again = _AGAIN if path.suffix else _AGAIN_IN_A_CELL.format(exercise.code)
    thing, is_class = getattr(module, part.name, None), isinstance(part.right, type)
    if thing is None or (is_class and not isinstance(thing, type)):
        kind = "class" if is_class else "function" if callable(part.right) else "name"
        return Verdict(f"There is no {kind} {part.name} in {path.name}.", again)
    lost = definitions(exercise.source()).keys() - definitions(text)
    methods = [name.partition(".")[2] for name in lost if name.startswith(f"{part.name}.")]
    return Verdict(f"There is no {methods[0]} in {part.name} any more.", again) if methods else None


def is_begun_in(exercise: Exercise, text: str) -> bool:
    """True if any of the blanks differs from how the file was made. Raises: SyntaxError."""
    given, made = definitions(text), definitions(exercise.source())
    return any(name not in given or _code_of(given[name]) != _code_of(made[name]) for name in exercise.blanks)


def _code_of(node: ast.stmt) -> str:
    """What is written there, without docstrings and comments."""
    has_docstring = isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None
    body: Any = node.body[1:] if has_docstring else [node]  # type: ignore[attr-defined]
    return "\n".join(map(ast.dump, body))


def _syntax(error: SyntaxError, path: Path) -> Verdict:
    line = (error.text or "").strip().split("\n")[0]  # of a text with three quotes, all its lines would come
    shown = f"{error.lineno or 0:>4}:  {line}" if line else ""
    name = path.name if path.suffix else path.name.capitalize()
    return Verdict(f"{name} is not valid Python yet: {error.msg}, in line {error.lineno}.", shown)
