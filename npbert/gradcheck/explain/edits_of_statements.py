"""The grammar of small edits, where whole lines change: dropped, moved, added to, written in place, copied first."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from npbert.gradcheck.explain.code import Code, filled, replaced
from npbert.gradcheck.explain.edits import Edit
from npbert.gradcheck.explain.places import is_step, names_in, same

_COMPOUND = (ast.For, ast.If, ast.While, ast.With, ast.FunctionDef)
_OPPOSITE = {ast.Add: ("sign", ast.Sub), ast.Sub: ("sign", ast.Add), ast.Mult: ("operator", ast.Div),
             ast.Div: ("operator", ast.Mult)}  # fmt: skip


class _Block(NamedTuple):
    """Statements that follow each other. holder: the loop or branch that they are in, which is one of `outer`."""

    body: list[ast.stmt]
    holder: ast.stmt | None
    outer: list[ast.stmt]


def statement_edits(code: Code) -> Iterator[Edit]:
    """Every small edit of a whole statement."""
    for block in _blocks(code.entry.body, None, []):
        for statement in block.body:
            if is_step(statement) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                continue
            for kind, news in _in_place_of(statement, names_in(code.entry)):
                yield _edit(kind, statement, *news)
            yield from _moves(statement, block)
    yield from _of_arguments(code.entry)


def _blocks(body: list[ast.stmt], holder: ast.stmt | None, outer: list[ast.stmt]) -> Iterator[_Block]:
    yield _Block(body, holder, outer)
    for statement in body:
        for name in ("body", "orelse"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner and not isinstance(statement, ast.FunctionDef):
                yield from _blocks(inner, statement, body)


def _edit(kind: str, statement: ast.stmt, *news: ast.stmt, more: float = 0.0) -> Edit:
    placed = [each if hasattr(each, "lineno") else ast.copy_location(each, statement) for each in news]
    return Edit(kind, statement.lineno, {id(statement): placed}, statement, placed, more)


def _in_place_of(s: ast.stmt, names: set[str]) -> Iterator[tuple[str, list[ast.stmt]]]:
    """(kind, what stands in the place of the statement)"""
    if not isinstance(s, (*_COMPOUND, ast.Return)):
        yield "delete", []
    if isinstance(s, ast.If):
        yield "delete", s.body
        yield "delete", s.orelse
    if isinstance(s, ast.AugAssign):
        load = _load(s.target)
        yield "accumulate", [_assign(s.target, s.value)]
        yield "in place", [_assign(s.target, ast.BinOp(load, s.op, s.value))]
        if type(s.op) in _OPPOSITE:
            kind, op = _OPPOSITE[type(s.op)]
            yield kind, [ast.AugAssign(s.target, op(), s.value)]
    if isinstance(s, ast.Assign) and len(s.targets) == 1:
        yield from _of_assignment(s.targets[0], s.value)
    target = s.target if isinstance(s, ast.AugAssign) else s.targets[0] if isinstance(s, ast.Assign) else None
    if isinstance(target, ast.Subscript):
        for index in _other_indices(target.slice, names):
            there = ast.Subscript(target.value, index, ast.Store())
            yield "index", [_with_target(s, there)]
        is_added = not isinstance(s, ast.AugAssign) or isinstance(s.op, ast.Add | ast.Sub)
        if is_added and not isinstance(target.slice, ast.Constant | ast.Slice):
            ufunc = "subtract" if isinstance(s, ast.AugAssign) and isinstance(s.op, ast.Sub) else "add"
            value = s.value if isinstance(s, ast.Assign | ast.AugAssign) else target
            parts = {"a": _load(target.value), "i": target.slice, "v": value}
            yield "repeated index", [ast.Expr(filled(f"np.{ufunc}.at(a, i, v)", **parts))]
    if isinstance(s, ast.Expr | ast.Assign | ast.Return | ast.AugAssign):
        loaded = sorted({n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)})
        for a, b in itertools.combinations([name for name in loaded if name not in ("np", "math", "self", "tape")], 2):
            yield "order", [_exchanged(s, a, b)]


def _of_assignment(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, list[ast.stmt]]]:
    if not isinstance(target, ast.Tuple | ast.List):
        yield "accumulate", [ast.AugAssign(target, ast.Add(), value)]
    if isinstance(target, ast.Name):
        yield "copy", [_assign(target, filled("e.copy()", e=value))]
        yield "rebound", [_assign(ast.Subscript(_load(target), ast.Constant(...), ast.Store()), value)]
    if isinstance(value, ast.BinOp) and same(_load(target), value.left):
        yield "rebound", [ast.AugAssign(target, value.op, value.right)]
    if isinstance(target, ast.Tuple):
        for i, j in itertools.combinations(range(len(target.elts)), 2):
            elements = list(target.elts)
            elements[i], elements[j] = elements[j], elements[i]
            yield "order", [_assign(ast.Tuple(elements, ast.Store()), value)]


def _other_indices(index: ast.expr, names: set[str]) -> Iterator[ast.expr]:
    if isinstance(index, ast.Name):
        yield from (ast.Name(name, ast.Load()) for name in sorted(names - {index.id}))
    if isinstance(index, ast.Tuple) and len(index.elts) == 2:
        first, second = index.elts
        yield ast.Tuple([second, first], ast.Load())
        if isinstance(first, ast.Slice) and not isinstance(second, ast.Slice):
            yield filled("(np.arange(len(i)), i)", i=second)


def _moves(s: ast.stmt, block: _Block) -> Iterator[Edit]:
    """The statement earlier or later, and out of its loop."""
    if isinstance(s, ast.Return | ast.FunctionDef) or len(block.body) == 1:
        return
    at = block.body.index(s)
    for other in block.body:
        place = block.body.index(other)
        if other is not s and not is_step(other) and place != at + 1:
            yield Edit(
                "move", s.lineno, {id(s): [], id(other): [s, other]}, s, None, says=f"before line {other.lineno}"
            )
        if isinstance(other, ast.For | ast.While) and other is not s:
            twin = copy.copy(other)
            twin.body = [*other.body, s]
            says = f"into the loop of line {other.lineno}"
            yield Edit("move", s.lineno, {id(s): [], id(other): [twin]}, s, None, says=says)
    if isinstance(block.holder, ast.For | ast.While):
        inner = replaced(block.holder, {id(s): []})
        for news, word in (([inner, s], "after"), ([s, inner], "before")):
            says = f"{word} the loop of line {block.holder.lineno}"
            yield Edit("move", s.lineno, {id(block.holder): news}, s, None, says=says)
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):  # x = … in a loop: x += …, from 0
            added = ast.copy_location(ast.AugAssign(s.targets[0], ast.Add(), s.value), s)
            start = ast.copy_location(_assign(s.targets[0], ast.Constant(0)), block.holder)
            news = [start, replaced(block.holder, {id(s): added})]
            yield Edit("accumulate", s.lineno, {id(block.holder): news}, s, added, 0.05)


def _of_arguments(function: ast.FunctionDef) -> Iterator[Edit]:
    """Copies of what the function is given, and defaults made anew."""
    first = next((s for s in function.body if not isinstance(s, ast.Expr)), function.body[-1])
    for argument in function.args.args:
        if argument.arg not in ("self", "tape"):
            name = ast.Name(argument.arg, ast.Load())
            start = _assign(ast.Name(argument.arg, ast.Store()), filled("e.copy()", e=name))
            yield _edit("copy", first, start, first)
    defaults = function.args.defaults
    for argument, default in zip(function.args.args[len(function.args.args) - len(defaults) :], defaults, strict=True):
        if isinstance(default, ast.Dict | ast.List | ast.Call | ast.Set):
            start = ast.copy_location(_assign(ast.Name(argument.arg, ast.Store()), default), first)
            says = f"{argument.arg} made anew in each call"
            yield Edit("remembers", function.lineno, {id(first): [start, first]}, default, None, says=says)


def _assign(target: ast.expr, value: ast.expr) -> ast.Assign:
    stored = copy.copy(target)
    if isinstance(stored, ast.Name | ast.Subscript | ast.Attribute):
        stored.ctx = ast.Store()
    return ast.Assign([stored], value)


def _with_target(s: ast.stmt, target: ast.expr) -> ast.stmt:
    return ast.AugAssign(target, s.op, s.value) if isinstance(s, ast.AugAssign) else _assign(target, s.value)  # type: ignore[attr-defined]


def _load(target: ast.expr) -> ast.expr:
    twin = copy.copy(target)
    if isinstance(twin, ast.Name | ast.Subscript | ast.Attribute):
        twin.ctx = ast.Load()
    return twin


def _exchanged(s: ast.stmt, a: str, b: str) -> ast.stmt:
    others = {a: b, b: a}
    loads = [n for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in others]
    twin: ast.stmt = replaced(s, {id(n): ast.Name(others[n.id], ast.Load()) for n in loads})
    return twin
