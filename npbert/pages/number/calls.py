"""The calls that were made while a model ran, with the lines that ran: a tree, one branch for each call."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = Path(__file__).parents[2]
WATCHED = tuple(f"{PACKAGE / room}/".replace("\\", "/") for room in ("layers", "blocks", "models", "optim"))


@dataclass
class TracedCall:
    """One call of a function of npbert: what ran in it, in order, is a line (its number) or another call.

    owner: the object whose method it is, or None for a plain function.
    """

    file: str
    function: str
    first: int
    owner: Any = None
    ran: list[int | TracedCall] = field(default_factory=list)

    def calls(self) -> Iterator[tuple[int, TracedCall]]:
        """Each call made from here, with the line that made it."""
        line = self.first
        for item in self.ran:
            if isinstance(item, int):
                line = item
            else:
                yield line, item

    def lines(self) -> list[int]:
        """The lines that ran here, each once, in order."""
        return sorted({item for item in self.ran if isinstance(item, int)})


def watched(compute: Callable[[], object]) -> TracedCall:
    """Call `compute`, and return what was called in it, in npbert's layers, blocks, models and optimizers."""
    root = TracedCall("", "", 0)
    stack = [root]

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        path = frame.f_code.co_filename.replace("\\", "/")
        if not path.startswith(WATCHED) or path.endswith("/checks.py"):  # a check computes nothing
            return None
        if frame.f_code.co_name.startswith("<"):  # a lambda or a comprehension: its lines are those of its function
            return on_line
        call = TracedCall(path, frame.f_code.co_name, frame.f_code.co_firstlineno, frame.f_locals.get("self"))
        stack[-1].ran.append(call)
        stack.append(call)
        return on_line_of_its_own

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            stack[-1].ran.append(frame.f_lineno)
        return on_line

    def on_line_of_its_own(frame: FrameType, event: str, _: Any) -> Any:
        if event == "return":
            stack.pop()
        on_line(frame, event, _)
        return on_line_of_its_own

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        compute()
    finally:
        sys.settrace(before)
    return root


@cache
def functions_in(path: str) -> dict[int, tuple[str, int]]:
    """By the number of its first line, the name of each function in a file, `Linear.forward`, and its last line."""
    found = {}

    def visit(node: ast.AST, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = inside
            if isinstance(child, ast.ClassDef | ast.FunctionDef):
                name = f"{inside}.{child.name}" if inside else child.name
            if isinstance(child, ast.FunctionDef):
                found[min([child.lineno, *(one.lineno for one in child.decorator_list)])] = name, child.end_lineno or 0
            visit(child, name)

    visit(ast.parse("\n".join(text_of(path))), "")
    return found


@cache
def text_of(path: str) -> list[str]:
    """The lines of a file."""
    return Path(path).read_text(encoding="utf-8").splitlines()
