"""attempt: runs a learner's code, and describes the exception that stops it."""

import linecache
import re
import traceback
from bdb import BdbQuit
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck import GradientError
from npbert.learn.exception_help import help_with
from npbert.learn.verdict import Verdict, paragraphs

MOST_OF_A_MESSAGE, MOST_SHAPES = 2000, 8


class Failure(NamedTuple):
    """An exception and its message, with its place in the learner's file.

    line, file: 0 and "" if none of the learner's lines took part
    shapes: the arrays visible at this line
    help: a remedy, if known
    """

    error: BaseException
    message: str
    line: int = 0
    code: str = ""
    shapes: str = ""
    file: str = ""
    help: str = ""

    @property
    def said(self) -> str:
        """Python's message, the failing line, and the shapes: three lines."""
        return f"{type(self.error).__name__}: {self.message}\n{self.code}\n{self.shapes}"

    @property
    def is_of_check(self) -> bool:
        """True for an error of the check after the answer ran to its end."""
        return isinstance(self.error, GradientError)

    @property
    def verdict(self) -> Verdict:
        """The verdict for the learner."""
        if self.is_of_check:
            return Verdict(sentence(self.message), self.help)
        where, shown = (f"Line {self.line}", f"{self.line:>4}:  {self.code}") if self.line else ("The code", "")
        shapes = f"Its arrays: {self.shapes}" if self.shapes else ""
        says = f"{where} stops with {type(self.error).__name__}: {self.message}"
        return Verdict(says, paragraphs(shown, self.help, shapes))


def attempt(call: Callable[[], Any], *files: str, given: frozenset[str] = frozenset()) -> Any:
    """Return call(), or the Failure that stops it.

    files: the learner's files
    given: functions in them that the learner did not write; the Failure names the line that called these"""
    try:
        with np.errstate(all="ignore"):
            return call()
    except (Exception, SystemExit) as error:
        return failure_of(error, *files, given=given)


def failure_of(error: BaseException, *files: str, given: frozenset[str] = frozenset()) -> Failure:
    """Return the Failure for an exception, with the last of the learner's lines in its traceback."""
    if error.__cause__ is not None and _place_of(error.__cause__, files, given)[0]:  # the check wrapped it
        error = error.__cause__
    frame, line = _place_of(error, files, given)
    failure, variables = Failure(error, _message_of(error)), dict[str, Any]()
    if frame is not None:
        file, variables = frame.f_code.co_filename, frame.f_locals
        linecache.checkcache(file)
        code = linecache.getline(file, line).strip()
        failure = failure._replace(line=line, code=code, shapes=visible_shapes(variables, code), file=file)
    return failure._replace(help=help_with(error, failure.said, variables))


def _place_of(error: BaseException, files: tuple[str, ...], given: frozenset[str]) -> tuple[FrameType | None, int]:
    """Return the last line in the learner's files, in a function that the learner wrote if one took part."""
    found: tuple[FrameType | None, int] = None, 0
    is_own = False
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename in files and not (is_own and frame.f_code.co_name in given):
            found, is_own = (frame, line), frame.f_code.co_name not in given
    return found


def _message_of(error: BaseException) -> str:
    """Return its message in a line."""
    if isinstance(error, SystemExit):
        return "the file ends the program; take the exit() out"
    if isinstance(error, BdbQuit):
        return "breakpoint() ends the check"
    message = " ".join(str(error)[:MOST_OF_A_MESSAGE].split())
    if "gufunc" in message or "remapped shapes" in message:
        return "the shapes do not fit"
    return message or "no message"


def load(path: Path, text: str) -> ModuleType | Failure:
    """Return the file as a module, or its Failure. Raises: SyntaxError."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    code = compile(text, str(path), "exec")
    return attempt(lambda: exec(code, vars(module)), str(path)) or module


def file_of(thing: Any) -> str:
    """Return the file of a class or a function, or "" if it has no code."""
    functions = [thing, *getattr(thing, "__dict__", {}).values()]
    return next((each.__code__.co_filename for each in functions if hasattr(each, "__code__")), "")


def visible_shapes(variables: dict[str, Any], code: str) -> str:
    """Return the shapes of arrays among the variables and of the parameters of `self`, and the None values; those in
    `code` first."""
    parts = getattr(variables.get("self"), "__dict__", {}).items()
    seen = variables | {f"self.{name}.value": part.value for name, part in parts if hasattr(part, "value")}
    shown = {name: str(value.shape) for name, value in seen.items() if isinstance(value, np.ndarray)}
    shown |= {name: "None" for name, value in seen.items() if value is None and not name.startswith("__")}
    names = sorted(shown, key=lambda name: re.search(rf"\b{name}\b", code) is None)
    return ", ".join(f"{name} {shown[name]}" for name in names[:MOST_SHAPES])


def sentence(text: str) -> str:
    """Return the text with a capital and a full stop; names such as dx, y or value_and_slope keep their case."""
    begun = text if re.match(r"(d\w*|[xyp]|\w+_\w+)\b", text) else text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "?", ":")) or "\n" in begun else f"{begun}."
