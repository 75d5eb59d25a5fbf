"""Edit: a small change of the code by the grammar, of an expression or a whole statement."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from npbert.gradcheck.explain.code import Code, Replacement, filled
from npbert.gradcheck.explain.grammar import Rule, mixed_up_with, rules_for
from npbert.gradcheck.explain.places import CodePlace, is_idle
from npbert.gradcheck.explain.reasons import CHEAP, KINDS
from npbert.gradcheck.explain.vocabulary import Vocabulary

_AROUND = ("missing factor", "missing term", "sign of the whole")  # they put something around existing code
_RETURNED = 1.0  # the extra cost for a name that is only returned: its value was computed elsewhere
_OF_AMOUNTS = ("sign", "sign of the whole", "missing term", "extra term", "missing factor", "extra factor", "constant")
"""Kinds for computed numbers, not for a range, an axis or an index."""


@dataclass(frozen=True, eq=False)
class Edit:
    """changes: new nodes, or statements, by the id of the old.   line: in the author's file   more: an extra cost
    old, new: the affected piece of code, and its replacement
    """

    kind: str
    line: int
    changes: Mapping[int, Replacement]
    old: ast.AST
    new: Replacement | None
    more: float = 0.0

    @property
    def rank(self) -> tuple[float, int, int]:
        """A sort key: the smallest is closest to the existing code."""
        old, new = _size(self.old), _size(self.new) if isinstance(self.new, ast.AST) else 0
        length = new - 2 * old if self.kind in _AROUND else abs(new - old) + new // 3
        return KINDS[self.kind].cost + self.more, length, self.line


def _size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def edit_of(place: CodePlace, kind: str, new: ast.expr) -> Edit:
    """Return the edit that puts another expression in a place."""
    if place.is_count and (kind in _OF_AMOUNTS or (place.in_brackets and kind in ("size", "wrong name"))):
        kind = "index" if place.in_brackets else "range" if place.role == "args" else "axis"
    more = _RETURNED if place.is_returned_name else 0.0
    return Edit(kind, place.expr.lineno, {id(place.expr): new}, place.expr, new, more)


def group_of(rule: Rule) -> str:
    """Return its kind if it adds code; "" for changes of existing code."""
    return "" if KINDS[rule.kind].cost <= CHEAP else rule.kind


def edits_of(place: CodePlace, vocabulary: Vocabulary, group: str = "") -> Iterator[Edit]:
    """Yield the edits of one expression in a group, as in group_of."""
    if isinstance(place.expr, ast.Call) and not group:
        yield from (edit_of(place, kind, new) for kind, new in _other_functions(place.expr))
    by_letter: dict[str, list[tuple[Rule, dict[str, ast.AST]]]] = {}
    for rule, found in rules_for(place.expr, place.sorts):
        if group_of(rule) == group:
            by_letter.setdefault(rule.drawn, []).append((rule, found))
    for letter, rules in by_letter.items():
        for drawn in vocabulary.drawn(letter, place):
            for rule, found in rules:
                new = rule.made(found, drawn)
                if not (rule.kind == "extra term" and isinstance(new, ast.Constant)):  # 1 - p is not a sum
                    yield edit_of(place, rule.kind, new)


def _other_functions(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yield calls of the functions that are often mixed up with this one."""
    field = "attr" if isinstance(call.func, ast.Attribute) else "id"
    for kind, other in mixed_up_with(getattr(call.func, field, "")):
        func = copy.copy(call.func)
        setattr(func, field, other)
        yield kind, ast.copy_location(ast.Call(func, call.args, call.keywords), call)


def statement_edits(code: Code) -> Iterator[Edit]:
    """Return every small edit of a whole statement."""
    statements = list(_inside(code, code.entry))
    for statement in statements:
        for kind, news in _in_place_of(statement):
            placed = [each if hasattr(each, "lineno") else ast.copy_location(each, statement) for each in news]
            yield Edit(kind, statement.lineno, {id(statement): placed}, statement, placed)
    computing = [each for each in statements if isinstance(each, ast.Assign | ast.Return)]
    values = [(each.lineno, each.value) for each in computing if each.value]
    for number, (line, value) in enumerate(values):
        names: dict[str, list[ast.expr]] = {}
        for _, earlier in values[: number + 1]:
            for name in _read_in(earlier):
                names.setdefault(name.id, []).append(name)
        places = [*names.values(), *([later] for _, later in values[number:])]
        for product in ast.walk(value):
            if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
                for there in places:
                    if there != [product]:
                        yield _moved(product, "left", "right", there, line)
                        yield _moved(product, "right", "left", there, line)


def _read_in(value: ast.expr) -> Iterator[ast.Name]:
    """Return the names in it that are used for their numbers, not for their shape."""
    shapes = [n.value for n in ast.walk(value) if isinstance(n, ast.Attribute) and n.attr in ("shape", "size", "ndim")]
    return (node for node in ast.walk(value) if isinstance(node, ast.Name) and node not in shapes)


def _moved(product: ast.BinOp, side: str, rest: str, places: Sequence[ast.expr], line: int) -> Edit:
    """Return the edit that moves the factor on one side of a product to these places."""
    factor: ast.expr = getattr(product, side)
    inside = set(map(id, ast.walk(factor)))
    changes: dict[int, Replacement] = {
        id(place): lambda e: filled("a * b", a=e, b=factor) for place in places if id(place) not in inside
    }
    changes[id(product)] = attrgetter(rest)
    return Edit("misplaced factor", line, changes, product, getattr(product, rest))


def _inside(code: Code, holder: ast.stmt) -> Iterator[ast.stmt]:
    """The statements of a function, and those in its loops and branches; in its inner functions, if it leaves them."""
    for statement in (*getattr(holder, "body", ()), *getattr(holder, "orelse", ())):
        if not is_idle(statement) and (code.leaves_functions or not isinstance(statement, ast.FunctionDef)):
            yield statement
            yield from _inside(code, statement)


def _in_place_of(s: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Yield (kind, replacement of the statement)."""
    is_unpacked = isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Tuple | ast.List)
    for rule, found in rules_for(s):
        if not is_unpacked or rule.kind == "order":
            new = rule.made(found)
            yield rule.kind, [new if isinstance(new, ast.stmt) else ast.Expr(new)]
    if isinstance(s, ast.If):
        yield from (("extra line", news) for news in (s.body, s.orelse))
    elif isinstance(s, ast.Assign | ast.AugAssign | ast.Expr):
        yield "extra line", []
