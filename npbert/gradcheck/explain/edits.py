"""Edit: a small change of the code by the grammar, of an expression or a whole statement."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from npbert.gradcheck.explain.code import Change, Code, text_of, tidied
from npbert.gradcheck.explain.grammar import Rule, rules_for
from npbert.gradcheck.explain.places import CodePlace
from npbert.gradcheck.explain.reasons import CHEAP, KINDS
from npbert.gradcheck.explain.vocabulary import Vocabulary

_AROUND = ("missing factor", "missing term", "sign of the whole")  # they put something around existing code
_RETURNED = 1.0  # the extra cost for a name that is only returned: its value was computed elsewhere
_OF_AMOUNTS = ("sign", "sign of the whole", "missing term", "extra term", "missing factor", "extra factor", "constant")
"""Kinds for computed numbers, not for a range, an axis or an index."""


@dataclass(frozen=True, eq=False)
class Edit:
    """kind, cost: see reasons.py   old, new: the affected expression or statement, and what replaces it; "" for no
    statement   moved: other changes instead, for a factor that moves
    """

    kind: str
    cost: float
    old: ast.expr | ast.stmt
    new: str
    moved: Sequence[Change] = ()

    def changes(self, code: Code) -> Sequence[Change]:
        """Return the changes of the text."""
        return self.moved or [code.put(self.old, self.new or "pass")]

    @property
    def rank(self) -> tuple[float, int, int]:
        """A sort key: the smallest is closest to the existing code."""
        old, new = _size(text_of(self.old)), _size(self.new)
        length = new - 2 * old if self.kind in _AROUND else abs(new - old) + new // 3
        return self.cost, length, self.old.lineno

    def tidied(self, code: Code) -> Edit:
        """Return the edit without needless brackets."""
        if self.moved:
            return self
        bare = replace(self, new=tidied(self.new))
        around = replace(self, new=f"({bare.new})")
        same = isinstance(self.old, ast.stmt) or _is_same(code, bare, around)
        return bare if same else around


def _is_same(code: Code, *edits: Edit) -> bool:
    one, other = (tidied(code.edited(edit.changes(code)).text.decode()) for edit in edits)
    return one == other


def _size(text: str) -> int:
    return len(re.findall(r"[\d.]+|\w+|[^\w\s()]", text))


def group_of(rule: Rule) -> str:
    """Return its kind if it adds code; "" for changes of existing code."""
    return "" if KINDS[rule.kind].cost <= CHEAP else rule.kind


def edits_of(place: CodePlace, vocabulary: Vocabulary, more: float, group: str = "") -> Iterator[Edit]:
    """Yield the edits of one expression in a group, as in group_of. more: an extra cost"""
    if place.is_name and place.is_whole and isinstance(place.statement, ast.Return):
        more += _RETURNED
    by_letter: dict[str, list[tuple[Rule, dict[str, str]]]] = {}
    for rule, parts in rules_for(place.expr, place.sorts):
        if group_of(rule) == group:
            by_letter.setdefault(rule.drawn, []).append((rule, parts))
    for letter, rules in by_letter.items():
        for drawn in vocabulary.drawn(letter, place):
            for rule, parts in rules:
                new, kind = rule.made(parts, drawn), rule.kind
                if kind == "extra term" and re.fullmatch(r"[\d(.)-]+", new):  # 1 - p is not a sum
                    continue
                if place.count and (kind in _OF_AMOUNTS or (place.count == "index" and kind in ("size", "wrong name"))):
                    kind = place.count
                yield Edit(kind, KINDS[kind].cost + more, place.expr, f"({new})")


def statement_edits(code: Code) -> Iterator[Edit]:
    """Return every small edit of a whole statement."""
    statements = list(_inside(code, code.functions[0]))
    for statement in statements:
        is_unpacked = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple | ast.List)
        for rule, parts in rules_for(statement):
            if not is_unpacked or rule.kind == "order":
                yield Edit(rule.kind, KINDS[rule.kind].cost, statement, rule.made(parts))
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr):
            yield Edit("extra line", KINDS["extra line"].cost, statement, "")
    values = [each.value for each in statements if isinstance(each, ast.Assign | ast.Return) and each.value]
    yield from _moves(code, values)


def _moves(code: Code, values: list[ast.expr]) -> Iterator[Edit]:
    """Return every move of a factor to all uses of a name up to its product, or to a value from there on."""
    for number, value in enumerate(values):
        names: dict[str, list[ast.expr]] = {}
        for earlier in values[: number + 1]:
            for name in _read_in(earlier):
                names.setdefault(name.id, []).append(name)
        for product in ast.walk(value):
            if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
                for places in (*names.values(), *([later] for later in values[number:])):
                    if places != [product]:
                        yield _moved(code, product, product.left, product.right, places)
                        yield _moved(code, product, product.right, product.left, places)


def _read_in(value: ast.expr) -> Iterator[ast.Name]:
    """Return the names in it that are used for their numbers, not for their shape."""
    shapes = [n.value for n in ast.walk(value) if isinstance(n, ast.Attribute) and n.attr in ("shape", "size", "ndim")]
    return (node for node in ast.walk(value) if isinstance(node, ast.Name) and node not in shapes)


def _moved(code: Code, product: ast.BinOp, factor: ast.expr, rest: ast.expr, places: Sequence[ast.expr]) -> Edit:
    """Return the edit that moves a factor of a product to these places."""
    (start, end), (first, last) = code.span(product), code.span(rest)
    changes = [(start, first, "("), (last, end, ")")]
    inside = set(map(id, ast.walk(factor)))
    for place in places:
        if id(place) not in inside:
            at, to = code.span(place)
            changes += [(at, at, "(("), (to, to, f") * ({text_of(factor)}))")]
    return Edit("misplaced factor", KINDS["misplaced factor"].cost, product, text_of(rest), changes)


def _inside(code: Code, holder: ast.stmt) -> Iterator[ast.stmt]:
    """The statements of a function, and those in its loops and branches; in its inner functions, if it leaves them."""
    for statement in (*getattr(holder, "body", ()), *getattr(holder, "orelse", ())):
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_docstring and (code.leaves_functions or not isinstance(statement, ast.FunctionDef)):
            yield statement
            yield from _inside(code, statement)
