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
from npbert.learn.exercise import Message

MOST_OF_A_MESSAGE, MOST_SHAPES = 2000, 8
_READ_ONLY = ("read-only", "cannot modify")
_HANDED_OVER = (
    "add_grad keeps the array that it is given, and later adds to it. So it wants an array that nobody else holds, and "
    "not dy, x or a part of them: a sum or a product is a new array, and so is a .copy()."
)


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
    def finding(self) -> Message:
        """In words."""
        where = f"Line {self.line}" if self.line else "The code"
        shown = f"{self.line:>4}:  {self.code}" if self.line else ""
        if self.kind == "GradientError":
            return Message(sentence(self.message))
        if any(words in self.message for words in _READ_ONLY) and self.kind == "ValueError":
            says = f"{where} writes into an array that belongs to somebody else."
            because = (
                _HANDED_OVER
                if "add_grad" in self.code
                else (
                    "What backward is given, and what forward kept, is the caller's, who may still need it: `dy *= a` "
                    "changes dy itself. Make a new array, `dx = dy * a`; your own you may change as you like."
                )
            )
        else:
            says, because = f"{where} stops with {self.kind}: {self.message}", self.help
        shapes = f"What is there: {self.shapes}" if self.shapes else ""
        return Message(says, "\n\n".join(filter(None, (shown, because, shapes))))


def attempt(call: Callable[[], Any], *files: str | None, given: frozenset[str] = frozenset()) -> Any:
    """call(), or the Failure that it ends in. files: the learner's, to tell where. given: names of functions in them
    that are not the learner's own; the line that called these is told."""
    try:
        with np.errstate(all="ignore"):
            return call()
    except (Exception, SystemExit) as error:
        return failure_of(error, *files, given=given)


def failure_of(error: BaseException, *files: str | None, given: frozenset[str] = frozenset()) -> Failure:
    """The exception, with the last line of the learner's files that took part in it."""
    message = " ".join(str(error)[:MOST_OF_A_MESSAGE].split()) or "it says no more"
    if isinstance(error, SystemExit):
        message = "the file ends the program; take the exit() out"
    if isinstance(error, BdbQuit):
        message = "breakpoint() ends the check"
    if "gufunc" in message or "remapped shapes" in message:
        is_einsum = any(frame.f_code.co_name == "einsum" for frame, _ in traceback.walk_tb(error.__traceback__))
        message = "einsum: a letter has two sizes" if is_einsum else "matmul: the shapes do not fit"
    found: tuple[FrameType, int] | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        in_own_code = found is not None and found[0].f_code.co_name not in given
        if frame.f_code.co_filename in files and not (in_own_code and frame.f_code.co_name in given):
            found = frame, line
    if found is None:
        return Failure(type(error).__name__, message, help=help_with(error, "", {}))
    frame, line = found
    file = frame.f_code.co_filename
    linecache.checkcache(file)
    code = linecache.getline(file, line).strip()
    help_ = help_with(error, code, frame.f_locals)
    return Failure(type(error).__name__, message, line, code, visible_shapes(frame, code), file, help_)


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


def visible_shapes(frame: FrameType, code: str) -> str:
    """The shapes of the arrays that the frame sees, those in `code` first; and the names of what is None."""
    shapes = dict(_shapes(frame.f_locals))
    in_code = [text for text in dict.fromkeys(map(ast.unparse, _names(code))) if text in shapes]
    names = [*in_code, *(name for name in shapes if name not in in_code)][:MOST_SHAPES]
    nothing = [name for name, value in frame.f_locals.items() if value is None and not name.startswith("__")]
    return ", ".join([*(f"{name} {shapes[name]}" for name in names), *(f"{name} None" for name in nothing)])


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
