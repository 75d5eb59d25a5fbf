"""attempt: run what a learner wrote, and say in words what stopped it, if anything did."""

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
    """An exception and its message, and where in the learner's file it came up.

    line, file: 0 and "" where none of the learner's lines took part. shapes: of the arrays that this line could see.
    help: what to do about it, if it is known.
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
        """Python's words, the line that stopped, and the shapes: three lines."""
        return f"{type(self.error).__name__}: {self.message}\n{self.code}\n{self.shapes}"

    @property
    def is_of_check(self) -> bool:
        """True for what the check says of an answer that has run to its end."""
        return isinstance(self.error, GradientError)

    @property
    def verdict(self) -> Verdict:
        """In words."""
        if self.is_of_check:
            return Verdict(sentence(self.message), self.help)
        where, shown = (f"Line {self.line}", f"{self.line:>4}:  {self.code}") if self.line else ("The code", "")
        shapes = f"What is there: {self.shapes}" if self.shapes else ""
        says = f"{where} stops with {type(self.error).__name__}: {self.message}"
        return Verdict(says, paragraphs(shown, self.help, shapes))


def attempt(call: Callable[[], Any], *files: str, given: frozenset[str] = frozenset()) -> Any:
    """call(), or the Failure that it ends in. files: the learner's, to tell where. given: names of functions in them
    that are not the learner's own; the line that called these is told."""
    try:
        with np.errstate(all="ignore"):
            return call()
    except (Exception, SystemExit) as error:
        return failure_of(error, *files, given=given)


def failure_of(error: BaseException, *files: str, given: frozenset[str] = frozenset()) -> Failure:
    """The exception, with the last line of the learner's files that took part in it."""
    if error.__cause__ is not None and _place_of(error.__cause__, files, given)[0]:  # of which the check made its own
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
    """The last line of the learner's files; in a function of their own, if one took part."""
    found: tuple[FrameType | None, int] = None, 0
    is_own = False
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename in files and not (is_own and frame.f_code.co_name in given):
            found, is_own = (frame, line), frame.f_code.co_name not in given
    return found


def _message_of(error: BaseException) -> str:
    """What it says, in a line."""
    if isinstance(error, SystemExit):
        return "the file ends the program; take the exit() out"
    if isinstance(error, BdbQuit):
        return "breakpoint() ends the check"
    message = " ".join(str(error)[:MOST_OF_A_MESSAGE].split())
    if "gufunc" in message or "remapped shapes" in message:
        return "the shapes do not fit"
    return message or "it says no more"


def load(path: Path, text: str) -> ModuleType | Failure:
    """The file as a module; or what stopped it. Raises: SyntaxError."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    code = compile(text, str(path), "exec")
    return attempt(lambda: exec(code, vars(module)), str(path)) or module


def file_of(thing: Any) -> str:
    """The file in which a class or a function was written, "" for one without code of its own."""
    functions = [thing, *getattr(thing, "__dict__", {}).values()]
    return next((each.__code__.co_filename for each in functions if hasattr(each, "__code__")), "")


def visible_shapes(variables: dict[str, Any], code: str) -> str:
    """The shapes of the arrays among the variables and of the parameters of `self`, and what is None; those in `code`
    first."""
    parts = getattr(variables.get("self"), "__dict__", {}).items()
    seen = variables | {f"self.{name}.value": part.value for name, part in parts if hasattr(part, "value")}
    shown = {name: str(value.shape) for name, value in seen.items() if isinstance(value, np.ndarray)}
    shown |= {name: "None" for name, value in seen.items() if value is None and not name.startswith("__")}
    names = sorted(shown, key=lambda name: re.search(rf"\b{name}\b", code) is None)
    return ", ".join(f"{name} {shown[name]}" for name in names[:MOST_SHAPES])


def sentence(text: str) -> str:
    """Begun with a capital, but where that is a name, as dx, y or value_and_slope; and ended."""
    begun = text if re.match(r"(d\w*|[xyp]|\w+_\w+)\b", text) else text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "?", ":")) or "\n" in begun else f"{begun}."
