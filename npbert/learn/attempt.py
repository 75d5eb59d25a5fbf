"""attempt: run what a learner wrote, and say in words what stopped it, if anything did."""

import ast
import linecache
import re
import traceback
from bdb import BdbQuit
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from npbert.learn.exception_help import help_with
from npbert.learn.exercise import Message, paragraphs

MOST_OF_A_MESSAGE, MOST_SHAPES = 2000, 8
_OF_CHECK = "GradientError", "PromiseError", "WrongShapeError"


class Failure(NamedTuple):
    """An exception: its kind and message, and where in the learner's file it came up.

    line, file: 0 and "" where none of the learner's lines took part. shapes: of the arrays that this line could see.
    help: what to do about it, if it is known.
    """

    kind: str
    message: str
    line: int = 0
    code: str = ""
    shapes: str = ""
    file: str = ""
    help: str = ""

    @property
    def said(self) -> str:
        """Python's words, the line that stopped, and the shapes: three lines."""
        return f"{self.kind}: {self.message}\n{self.code}\n{self.shapes}"

    @property
    def is_of_check(self) -> bool:
        """True for what the check says of an answer that has run to its end."""
        return self.kind in _OF_CHECK

    @property
    def finding(self) -> Message:
        """In words."""
        if self.is_of_check:
            return Message(sentence(self.message), self.help)
        where, shown = (f"Line {self.line}", f"{self.line:>4}:  {self.code}") if self.line else ("The code", "")
        shapes = f"What is there: {self.shapes}" if self.shapes else ""
        return Message(f"{where} stops with {self.kind}: {self.message}", paragraphs(shown, self.help, shapes))


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
    if error.__cause__ is not None and _line_of(error.__cause__, files, given):  # of which the check made its own
        error = error.__cause__
    found = _line_of(error, files, given)
    frame, line = found or (None, 0)
    file = frame.f_code.co_filename if frame else ""
    linecache.checkcache(file)
    code, variables = linecache.getline(file, line).strip(), frame.f_locals if frame else {}
    shapes = visible_shapes(variables, code)
    return Failure(
        type(error).__name__, _message_of(error), line, code, shapes, file, help_with(error, code, variables)
    )


def _line_of(error: BaseException, files: tuple[str, ...], given: frozenset[str]) -> tuple[FrameType, int] | None:
    """The last line of the learner's files, in a function of their own."""
    found: tuple[FrameType, int] | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        in_own_code = found is not None and found[0].f_code.co_name not in given
        if frame.f_code.co_filename in files and not (in_own_code and frame.f_code.co_name in given):
            found = frame, line
    return found


def _message_of(error: BaseException) -> str:
    """What it says, in a line."""
    if isinstance(error, SystemExit):
        return "the file ends the program; take the exit() out"
    if isinstance(error, BdbQuit):
        return "breakpoint() ends the check"
    message = " ".join(str(error)[:MOST_OF_A_MESSAGE].split()) or "it says no more"
    if "gufunc" not in message and "remapped shapes" not in message:
        return message
    calls = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    return "einsum: a letter has two sizes" if "einsum" in calls else "matmul: the shapes do not fit"


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


def file_of(thing: Any) -> str:
    """The file in which a class or a function was written, "" for one without code of its own."""
    functions = [thing, *getattr(thing, "__dict__", {}).values()]
    return next((each.__code__.co_filename for each in functions if hasattr(each, "__code__")), "")


def visible_shapes(variables: dict[str, Any], code: str) -> str:
    """The shapes of the arrays among the variables, those in `code` first; and the names of what is None."""
    shapes = dict(_shapes(variables))
    in_code = [text for text in dict.fromkeys(map(ast.unparse, _names(code))) if text in shapes]
    names = [*dict.fromkeys([*in_code, *shapes])][:MOST_SHAPES]
    nothing = [f"{name} None" for name, value in variables.items() if value is None and not name.startswith("__")]
    return ", ".join([*(f"{name} {shapes[name]}" for name in names), *nothing])


def _shapes(variables: dict[str, Any]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Of the arrays among the variables, and of the parameters of `self`."""
    for name, value in variables.items():
        if isinstance(value, np.ndarray):
            yield name, value.shape
    for name, part in getattr(variables.get("self"), "__dict__", {}).items():
        if isinstance(getattr(part, "value", None), np.ndarray):
            yield f"self.{name}.value", part.value.shape


def _names(code: str) -> list[ast.expr]:
    """The names and attributes in a line of code, from left to right; none in one that is a part of a statement."""
    try:
        found = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name | ast.Attribute)]
    except SyntaxError:
        return []
    return sorted(found, key=lambda node: node.col_offset)


def sentence(text: str) -> str:
    """Begun with a capital, but where that is a name, as dx, y or value_and_slope; and ended."""
    begun = text if re.match(r"(d\w*|[xyp]|\w+_\w+)\b", text) else text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "?", ":")) or "\n" in begun else f"{begun}."
