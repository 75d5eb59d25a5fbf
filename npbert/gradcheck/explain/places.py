"""Place: an expression in the code, where it hangs, and what it was when the code ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import STEP

_INNER = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.FunctionDef)
_COMPOUND = (ast.Slice, ast.JoinedStr, ast.Starred, ast.Lambda, ast.FormattedValue)
_ONCE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


@dataclass(eq=False)
class Place:
    """An expression that may be what is wrong.

    holder, role: the node that it hangs on, and as what.   hidden: the hook cannot see its variables.
    looped: it may run more than once in a call.
    seen, value, env: whether it ran, what it was the first time, and the local variables then.
    room: the shape that it is broadcast to, by what it is added to or multiplied with.
    """

    expr: ast.expr
    holder: ast.AST
    role: str
    statement: ast.stmt
    hidden: bool
    looped: bool
    seen: bool = False
    value: Any = None
    env: Mapping[str, Any] = field(default_factory=dict)
    room: tuple[int, ...] = ()

    @property
    def is_index(self) -> bool:
        """Whether it is in the brackets of a subscript, or an axis."""
        in_slice = isinstance(self.holder, ast.Subscript | ast.Slice) and self.role in (
            "slice",
            "lower",
            "upper",
            "step",
        )
        return in_slice or (isinstance(self.holder, ast.keyword) and self.holder.arg in ("axis", "axes"))

    @property
    def is_float(self) -> bool:
        """Whether it is a float, or an array of floats."""
        return isinstance(self.value, float | np.floating | np.ndarray) and np.asarray(self.value).dtype.kind == "f"

    @property
    def is_number(self) -> bool:
        """Whether it is a number, but no truth value."""
        return isinstance(self.value, int | float | np.number) and not isinstance(self.value, bool)

    @property
    def is_whole(self) -> bool:
        """Whether it is all that its statement computes."""
        return isinstance(self.holder, ast.stmt)


def places_in(tree: ast.Module) -> list[Place]:
    """All expressions whose value is read, the outer ones before the inner ones."""
    return [
        place
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for statement in function.body
        for place in _places(statement, function, "body", statement, is_hidden=function is not tree.body[0])
    ]


def _places(
    node: ast.AST, holder: ast.AST, role: str, statement: ast.stmt, *, is_hidden: bool, is_looped: bool = False
) -> Iterator[Place]:
    if is_step(node):
        return
    statement = node if isinstance(node, ast.stmt) else statement
    if _is_value(node, holder, role):
        assert isinstance(node, ast.expr)
        yield Place(node, holder, role, statement, is_hidden or _is_once(node), is_looped)
    is_hidden = is_hidden or isinstance(node, _INNER)
    for name, value in ast.iter_fields(node):
        loops = is_looped or (isinstance(node, ast.For | ast.While) and name == "body")
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST) and not isinstance(each, ast.expr_context | ast.operator | ast.arguments):
                yield from _places(each, node, name, statement, is_hidden=is_hidden, is_looped=loops)


def _is_value(node: ast.AST, holder: ast.AST, role: str) -> bool:
    if (
        not isinstance(node, ast.expr)
        or isinstance(node, _COMPOUND)
        or (isinstance(holder, ast.Call) and role == "func")
    ):
        return False
    if isinstance(node, ast.Tuple) and any(isinstance(each, ast.Slice | ast.Starred) for each in node.elts):
        return False
    is_text = isinstance(holder, ast.Expr) and isinstance(node, ast.Constant)
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and not is_text


def _is_once(node: ast.expr) -> bool:
    """Whether it cannot be computed by itself."""
    return any(
        isinstance(each, _ONCE) or (isinstance(each, ast.Name) and each.id == "super") for each in ast.walk(node)
    )


def is_step(node: ast.AST) -> bool:
    """Whether it is the call that counts the rounds of a loop."""
    node = node.value if isinstance(node, ast.Expr) else node
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == STEP


def names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def same(a: ast.AST, b: ast.AST) -> bool:
    """Whether they read the same."""
    return ast.dump(a) == ast.dump(b)


def broadcasts(value: Any, to: Any) -> bool:
    """Whether value fits beside `to` and leaves its shape as it is."""
    a, b = np.shape(value), np.shape(to)
    return len(a) <= len(b) and all(x in (1, y) for x, y in zip(a[::-1], b[::-1], strict=False))


def fingerprint(value: Any) -> Any:
    """Equal for equal values, as far as it matters here."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes() if value.dtype != object else id(value)
    if isinstance(value, tuple | list):
        return type(value), tuple(map(fingerprint, value))
    return (type(value), repr(value)) if isinstance(value, bool | int | float | str | np.generic) else id(value)


def give_room(places: list[Place]) -> None:
    """Notes at each place what it is broadcast to."""
    by_expression = {id(place.expr): place for place in places}
    for place in places:
        shape = np.shape(place.value) if isinstance(place.value, np.ndarray | float | np.floating) else ()
        holder = by_expression.get(id(place.holder))
        is_broadcast = isinstance(place.holder, ast.BinOp) and not isinstance(place.holder.op, ast.MatMult | ast.Pow)
        if (
            holder is not None
            and is_broadcast
            and isinstance(holder.value, np.ndarray)
            and broadcasts(place.value, holder.value)
        ):
            shape = holder.room or holder.value.shape
        place.room = shape
