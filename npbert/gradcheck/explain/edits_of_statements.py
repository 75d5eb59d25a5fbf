"""The grammar of small edits, where whole lines change: dropped, moved, added to, written in place, copied first."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from npbert.gradcheck.explain.code import Code, filled, replaced
from npbert.gradcheck.explain.edits import Edit
from npbert.gradcheck.explain.grammar import rewritten
from npbert.gradcheck.explain.places import is_idle


def statement_edits(code: Code) -> Iterator[Edit]:
    """Every small edit of a whole statement."""
    for body, holder in _blocks(code.entry):
        for statement in body:
            if not is_idle(statement) and not isinstance(statement, ast.FunctionDef):
                for kind, news in _in_place_of(statement):
                    placed = [each if hasattr(each, "lineno") else ast.copy_location(each, statement) for each in news]
                    yield Edit(kind, statement.lineno, {id(statement): placed}, statement, placed)
                if not isinstance(statement, ast.Return) and len(body) > 1:
                    yield from _moves(statement, body, holder)


def _blocks(holder: ast.stmt) -> Iterator[tuple[list[ast.stmt], ast.stmt]]:
    """Statements that follow each other, and the function, loop or branch that they are in."""
    for body in (getattr(holder, "body", []), getattr(holder, "orelse", [])):
        yield body, holder
        for statement in body:
            yield from (() if isinstance(statement, ast.FunctionDef) else _blocks(statement))


def _in_place_of(s: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    """(kind, what stands in the place of the statement)"""
    is_unpacked = isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Tuple | ast.List)
    for kind, new in rewritten(s):
        if not is_unpacked or kind == "order":
            yield kind, [new if isinstance(new, ast.stmt) else ast.Expr(new)]
    if isinstance(s, ast.If):
        yield from (("delete", news) for news in (s.body, s.orelse))
    elif isinstance(s, ast.Assign | ast.AugAssign | ast.Expr):
        yield "delete", []


def _moves(s: ast.stmt, body: list[ast.stmt], holder: ast.stmt) -> Iterator[Edit]:
    """The statement earlier or later, and out of its loop."""
    follower = body[body.index(s) + 1 : body.index(s) + 2]
    for other in body:
        if other not in (s, *follower) and not is_idle(other):
            says = f"before line {other.lineno}"
            yield Edit("move", s.lineno, {id(s): [], id(other): [s, other]}, s, None, says=says)
    if isinstance(holder, ast.For | ast.While):
        inner = replaced(holder, {id(s): []})
        for news, word in (([inner, s], "after"), ([s, inner], "before")):
            says = f"{word} the loop of line {holder.lineno}"
            yield Edit("move", s.lineno, {id(holder): news}, s, None, says=says)
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):  # x = … in a loop: x += …, from 0
            added = ast.copy_location(filled("a += b", a=s.targets[0], b=s.value), s)
            start = ast.copy_location(filled("a = 0", a=s.targets[0]), holder)
            yield Edit(
                "accumulate", s.lineno, {id(holder): [start, replaced(holder, {id(s): added})]}, s, [added], 0.05
            )
