"""Verdict: what is said of an exercise file. judge: how it comes about, in the process that runs the learner's code."""

from __future__ import annotations

import ast
import contextlib
import io
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from npbert.files import FileError, read_text
from npbert.learn.attempt import Failure, failure_of
from npbert.learn.exercise import Exercise, Finding

RIGHT, NOT_BEGUN, WRONG = "right", "not begun", "not right yet"
MOST_PRINTED = 2000
_AGAIN = "It was there when the file was made. To start again, rename the file: `npbert learn` writes a new one."


@dataclass(frozen=True)
class Verdict:
    """status: RIGHT, NOT_BEGUN or WRONG. says, because: as of a Finding. printed: what the learner's code printed."""

    status: str
    says: str = ""
    because: str = ""
    printed: str = ""


def judge_file(exercise: Exercise, path: Path) -> Verdict:
    """Run the file and judge it. Whatever it prints is in the verdict, up to MOST_PRINTED characters."""
    printed = _Printed()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status, finding = _judge(exercise, path)
    return Verdict(status, *finding, printed.getvalue())


def _judge(exercise: Exercise, path: Path) -> tuple[str, Finding]:
    try:
        text = read_text(path)
        is_begun = is_begun_in(exercise, text)
        module = load(path, text)
    except SyntaxError as error:
        return WRONG, _syntax(error, path)
    except FileError as error:
        return WRONG, Finding(str(error))
    if not is_begun:
        return NOT_BEGUN, Finding("")
    if isinstance(module, Failure):
        return WRONG, module.finding
    right: list[str] = []
    for part in exercise.parts:
        thing = getattr(module, part.name, None)
        if thing is None or (isinstance(part.right, type) and not isinstance(thing, type)):
            kind = "class" if isinstance(part.right, type) else "function" if callable(part.right) else "name"
            return WRONG, Finding(
                f"There is no {kind} {part.name} in {path.name}.",
                _AGAIN,
            )
        gone = _gone(exercise, part.name, thing)
        if gone:
            return WRONG, Finding(f"There is no {gone} in {part.name} any more.", _AGAIN)
        finding: Finding | None
        try:
            finding = part.judge(thing)
        except NotImplementedError as error:
            finding = _unfinished(exercise, part.name, error.args[0] if error.args else 0)
        except Exception as error:  # what came out is nothing that can be compared
            finding = failure_of(error, str(path)).finding
        if finding is not None:
            is_named = len(exercise.parts) == 1 or finding.says.startswith(part.name)
            so_far = [f"{', '.join(right)} is right."] if right else []
            because = "\n\n".join(filter(None, [finding.because, *so_far]))
            return WRONG, Finding(finding.says if is_named else f"{part.name}: {finding.says}", because)
        right.append(part.name)
    return RIGHT, Finding("")


def _gone(exercise: Exercise, name: str, thing: Any) -> str:
    """A method that is the learner's to write, and is not in their class any more; or ""."""
    methods = [method for owner, _, method in (blank.partition(".") for blank in exercise.blanks) if owner == name]
    for method in methods if isinstance(thing, type) else ():
        owner = next((each for each in thing.__mro__ if method in vars(each)), object)
        if owner is object or owner.__module__.startswith("npbert."):
            return method
    return ""


def load(path: Path, text: str) -> ModuleType | Failure:
    """The file as a module; or what stopped it. Raises: SyntaxError."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    code = compile(text, str(path), "exec")
    try:
        exec(code, vars(module))
    except (Exception, SystemExit) as error:
        return failure_of(error, str(path))
    return module


def is_begun_in(exercise: Exercise, text: str) -> bool:
    """Whether any of what is the learner's to write differs from how the file was made. Raises: SyntaxError."""
    given, made = _named(text), _named(exercise.source())
    return any(name not in given or given[name] != made.get(name) for name in exercise.blanks)


def _named(text: str) -> dict[str, str]:
    """By dotted name, the functions and the values at the top of a file, without their docstrings and comments."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            methods = [method for method in node.body if isinstance(method, ast.FunctionDef)]
            found.update({f"{node.name}.{method.name}": _dump(method) for method in methods})
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = _dump(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = ast.dump(node.value)
    return found


def _dump(function: ast.FunctionDef) -> str:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return "\n".join(map(ast.dump, body))


def _unfinished(exercise: Exercise, name: str, line: int) -> Finding:
    where = f" in line {line}" if line else ""
    several = f"{name} is" if len(exercise.parts) > 1 else "It is"
    return Finding(
        f"{several} not finished: the `raise NotImplementedError`{where} is still there.",
        "It stands for what is yours to write. Once that is written, take the line out.",
    )


def _syntax(error: SyntaxError, path: Path) -> Finding:
    line = (error.text or "").rstrip()
    shown = f"{error.lineno or 0:>4}:  {line.strip()}" if line.strip() else ""
    return Finding(f"{path.name} is no valid Python yet: {error.msg}, in line {error.lineno}.", shown)


class _Printed(io.StringIO):
    """Keeps the beginning of what is printed."""

    def write(self, text: str) -> int:
        room = MOST_PRINTED - self.tell()
        if 0 < room < len(text):
            super().write(f"{text[:room]} …")
        elif room > 0:
            super().write(text)
        return len(text)


def as_json(verdict: Verdict) -> dict[str, Any]:
    """For another process."""
    return dict(vars(verdict))
