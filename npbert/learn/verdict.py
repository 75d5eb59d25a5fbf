"""Verdict: what is said of an exercise file. judge: how it comes about, in the process that runs the learner's code."""

import ast
import bdb
import contextlib
import io
import pdb
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from npbert.gradcheck.explain import Finding
from npbert.io.files import FileError, read_text
from npbert.learn.attempt import Failure, failure_of, load
from npbert.learn.exercise import Exercise, Message, Part, paragraphs
from npbert.learn.judge import judge
from npbert.learn.source import definitions

RIGHT, NOT_BEGUN, WRONG = "right", "not begun", "not right yet"
MOST_PRINTED = 2000
_AGAIN = "The file was made with it. To start again, rename the file and run `npbert learn`."
_AGAIN_IN_A_CELL = "A cell to begin with is put below by %exercise {}."


@dataclass(frozen=True)
class Verdict:
    """status: RIGHT, NOT_BEGUN or WRONG. says, because: as of a Message; of a right answer because is a remark.

    findings: what is wrong as data, each with its line and the edit that mends it.
    printed: what the learner's code printed. part: the name of the part that is not right, where one was judged.
    """

    status: str
    says: str = ""
    because: str = ""
    printed: str = ""
    part: str = ""
    findings: tuple[Finding, ...] = ()


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
    Whatever it prints is in the verdict, and in `printed`, up to MOST_PRINTED characters.

    A breakpoint() in it raises BdbQuit: nobody is there to type.
    """
    printed = Printed() if printed is None else printed
    hook, sys.breakpointhook = sys.breakpointhook, _no_breakpoint
    trace, pdb.set_trace = pdb.set_trace, _no_breakpoint
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            verdict = _judge(exercise, path, mends)
    finally:
        sys.breakpointhook, pdb.set_trace = hook, trace
    says, because, said = map(plain, (verdict.says, verdict.because, printed.getvalue()))
    return replace(verdict, says=says, because=because, printed=said)


def _no_breakpoint(*_: Any, **__: Any) -> None:
    raise bdb.BdbQuit


def _judge(exercise: Exercise, path: Path, mends: bool) -> Verdict:
    try:
        text = read_text(path)
        is_begun = is_begun_in(exercise, text)
        module = load(path, text)
    except SyntaxError as error:
        return _wrong(_syntax(error, path))
    except FileError as error:
        return _wrong(Message(str(error)))
    if not is_begun:
        return Verdict(NOT_BEGUN)
    if isinstance(module, Failure):
        return _wrong(module.finding)
    right: list[str] = []
    for part in exercise.parts:
        found = _judged(exercise, part, getattr(module, part.name, None), text, path, mends)
        if found is not None:
            is_named = len(exercise.parts) == 1 or part.name in found.says
            so_far = f"{', '.join(right)} is right." if right else ""
            says = found.says if is_named else f"{part.name}: {found.says}"
            return _wrong(Message(says, paragraphs(found.because, so_far), found.findings), part.name)
        right += [part.name] if part.name not in right else []
    remarks = [part.remarks(getattr(module, part.name)) for part in exercise.parts]
    return Verdict(RIGHT, because=paragraphs(*remarks))


def _judged(exercise: Exercise, part: Part, thing: Any, text: str, path: Path, mends: bool) -> Message | None:
    """What is wrong with one part, None if nothing is."""
    if lost := _lost(exercise, part, thing, text, path.name):
        return Message(lost, _AGAIN if path.suffix else _AGAIN_IN_A_CELL.format(exercise.code))
    try:
        return judge(part, thing, mends=mends)
    except NotImplementedError as error:
        return _unfinished(exercise, part.name, failure_of(error, str(path)).line or error.args[0])
    except Exception as error:  # what came out is nothing that can be compared
        return failure_of(error, str(path)).finding


def _wrong(message: Message, part: str = "") -> Verdict:
    return Verdict(WRONG, message.says, message.because, part=part, findings=message.findings)


def _lost(exercise: Exercise, part: Part, thing: Any, text: str, name: str) -> str:
    """The part that the file had when it was made, and has no more: all of a part, or a method of it; or ""."""
    is_class = isinstance(part.right, type)
    if thing is None or (is_class and not isinstance(thing, type)):
        kind = "class" if is_class else "function" if callable(part.right) else "name"
        return f"There is no {kind} {part.name} in {name}."
    lost = (each.partition(".")[2] for each in _named(exercise.source()).keys() - _named(text) if part.name in each)
    return next((f"There is no {method} in {part.name} any more." for method in lost if method), "")


def is_begun_in(exercise: Exercise, text: str) -> bool:
    """True if any of the blanks differs from how the file was made. Raises: SyntaxError."""
    given, made = _named(text), _named(exercise.source())
    return any(name not in given or given[name] != made.get(name) for name in exercise.blanks)


def _named(text: str) -> dict[str, str]:
    """By dotted name, what is defined at the top of a file, without docstrings and comments."""
    found = {}
    for name, node in definitions(text).items():
        has_docstring = isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None
        found[name] = "\n".join(map(ast.dump, node.body[1:] if has_docstring else [node]))  # type: ignore[attr-defined]
    return found


def _unfinished(exercise: Exercise, name: str, line: int) -> Message:
    what, where = name if len(exercise.parts) > 1 else "It", f" in line {line}" if line else ""
    return Message(
        f"{what} is not finished: the `raise NotImplementedError`{where} is still there.",
        "It stands for what is yours to write. Once that is written, take the line out.",
    )


def _syntax(error: SyntaxError, path: Path) -> Message:
    line = (error.text or "").strip().split("\n")[0]  # of a text with three quotes, all its lines would come
    shown = f"{error.lineno or 0:>4}:  {line}" if line else ""
    name = path.name if path.suffix else path.name.capitalize()
    return Message(f"{name} is not valid Python yet: {error.msg}, in line {error.lineno}.", shown)


def plain(text: str) -> str:
    """The text without escape codes and the like, which a terminal would obey."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text)


def from_json(values: dict[str, Any]) -> Verdict:
    """The verdict of which `asdict` gave these values, in another process."""
    return Verdict(**{**values, "findings": tuple(Finding(**finding) for finding in values["findings"])})
