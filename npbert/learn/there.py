"""What is there: the arrays that a learner's line sees, and why a matrix product in it does not fit."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

MOST_SHAPES = 8
_HARMLESS = (
    ast.Name,
    ast.Attribute,
    ast.Constant,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
)
_TURNING = ("swapaxes", "transpose", "_transposed")


def what_is_there(frame: FrameType, code: str) -> str:
    """The shapes of the arrays that the frame sees, those in `code` first; and the names of what is None."""
    shapes = dict(_shapes(frame.f_locals))
    in_code = [text for text in dict.fromkeys(map(ast.unparse, _names(code))) if text in shapes]
    names = [*in_code, *(name for name in shapes if name not in in_code)][:MOST_SHAPES]
    nothing = [name for name, value in frame.f_locals.items() if value is None and not name.startswith("__")]
    return ", ".join([*(f"{name} {shapes[name]}" for name in names), *(f"{name} None" for name in nothing)])


def product_that_does_not_fit(frame: FrameType, line: int) -> str:
    """The first `A @ B` in this line whose shapes do not fit, with these shapes and why; or ""."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
    except SyntaxError:
        return ""
    here = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)]
    for node in reversed([node for node in here if node.lineno <= line <= (node.end_lineno or 0)]):  # innermost first
        left, right = _array(node.left, frame), _array(node.right, frame)
        why = _misfit(left.shape, right.shape) if left is not None and right is not None else ""
        if left is not None and right is not None and why:
            return f"{ast.unparse(node.left)} {left.shape} @ {ast.unparse(node.right)} {right.shape}: {why}"
    return ""


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


def _array(node: ast.expr, frame: FrameType) -> Any:
    """What the expression gives, if computing it changes nothing and it is an array; else None."""
    for part in ast.walk(node):
        called = getattr(part, "func", None)
        is_turning = getattr(called, "attr", getattr(called, "id", "")) in _TURNING
        if not isinstance(part, _HARMLESS) and not (isinstance(part, ast.Call) and is_turning):
            return None
    try:
        found = eval(compile(ast.Expression(node), "<a part of a line>", "eval"), frame.f_globals, frame.f_locals)
    except Exception:
        return None
    return found if isinstance(found, np.ndarray) else None


def _misfit(left: tuple[int, ...], right: tuple[int, ...]) -> str:
    if not left or not right:
        return "@ wants arrays, and a single number has no axes. For number by number it is *."
    inner = left[-1], right[-2] if len(right) > 1 else right[0]
    if inner[0] != inner[1]:
        return f"for @ the inner two, {inner[0]} and {inner[1]}, must be equal."
    for one, other in zip(reversed(left[:-2]), reversed(right[:-2]), strict=False):
        if one != other and 1 not in (one, other):
            return f"the axes before the last two must be equal, or 1, and {one} and {other} are not."
    return ""
