"""The grammar of small edits, where whole lines change: dropped, moved, added to, written in place, copied first."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from npbert.gradcheck.explain.code import Code, filled, replaced
from npbert.gradcheck.explain.edits import Edit
from npbert.gradcheck.explain.grammar import rewritten
from npbert.gradcheck.explain.places import is_step, names_in

_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
_NOT_EXCHANGED = {"np", "math", "self", "tape"}


class _Block(NamedTuple):
    """Statements that follow each other.   holder: the loop or branch that they are in"""

    body: list[ast.stmt]
    holder: ast.stmt | None


def statement_edits(code: Code) -> Iterator[Edit]:
    """Every small edit of a whole statement."""
    for block in _blocks(code.entry.body, None):
        for statement in block.body:
            if not is_step(statement) and not (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            ):
                yield from (
                    _edit(kind, statement, *news) for kind, news in _in_place_of(statement, names_in(code.entry))
                )
                yield from _moves(statement, block)
    yield from _of_arguments(code.entry)


def _blocks(body: list[ast.stmt], holder: ast.stmt | None) -> Iterator[_Block]:
    yield _Block(body, holder)
    for statement in body:
        for inner in (getattr(statement, "body", []), getattr(statement, "orelse", [])):
            yield from _blocks(inner, statement) if inner and not isinstance(statement, ast.FunctionDef) else ()


def _edit(kind: str, statement: ast.stmt, *news: ast.stmt) -> Edit:
    placed = [each if hasattr(each, "lineno") else ast.copy_location(each, statement) for each in news]
    return Edit(kind, statement.lineno, {id(statement): placed}, statement, placed)


def _in_place_of(s: ast.stmt, names: set[str]) -> Iterator[tuple[str, list[ast.stmt]]]:
    """(kind, what stands in the place of the statement)"""
    is_unpacked = isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Tuple | ast.List)
    for kind, new in rewritten(s):
        if is_unpacked and kind != "order":
            continue
        yield kind, [new if isinstance(new, ast.stmt) else ast.Expr(new)]
    if isinstance(s, ast.If):
        yield from (("delete", news) for news in (s.body, s.orelse))
    elif isinstance(s, _SIMPLE) and not isinstance(s, ast.Return):
        yield "delete", []
    target = s.target if isinstance(s, ast.AugAssign) else s.targets[0] if isinstance(s, ast.Assign) else None
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Name):
        for name in sorted(names - {target.slice.id}):
            yield "index", [replaced(s, {id(target.slice): ast.Name(name, ast.Load())})]
    if isinstance(s, _SIMPLE):
        loads = [n for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        for a, b in itertools.combinations(sorted({n.id for n in loads} - _NOT_EXCHANGED), 2):
            others = {a: ast.Name(b, ast.Load()), b: ast.Name(a, ast.Load())}
            yield "order", [replaced(s, {id(n): others[n.id] for n in loads if n.id in others})]


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
            added = ast.copy_location(filled("a += b", a=s.targets[0], b=s.value), s)
            start = ast.copy_location(filled("a = 0", a=s.targets[0]), block.holder)
            news = [start, replaced(block.holder, {id(s): added})]
            yield Edit("accumulate", s.lineno, {id(block.holder): news}, s, added, 0.05)


def _of_arguments(function: ast.FunctionDef) -> Iterator[Edit]:
    """Copies of what the function is given, and defaults made anew."""
    first = next((s for s in function.body if not isinstance(s, ast.Expr)), function.body[-1])
    arguments, defaults = function.args.args, function.args.defaults
    for argument in arguments:
        if argument.arg not in _NOT_EXCHANGED:
            yield _edit("copy", first, filled("a = a.copy()", a=ast.Name(argument.arg, ast.Load())), first)
    for argument, default in zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True):
        if isinstance(default, ast.Dict | ast.List | ast.Call | ast.Set):
            start = filled("a = b", a=ast.Name(argument.arg, ast.Load()), b=default)
            changes = {id(first): [ast.copy_location(start, first), first]}
            says = f"{argument.arg} made anew in each call"
            yield Edit("remembers", function.lineno, changes, default, None, says=says)
