"""Edit: a small change of the code by the grammar, of an expression or a whole statement."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from npbert.gradcheck.explain.code import Code, Replacement, filled, text_of
from npbert.gradcheck.explain.grammar import MIXED_UP, REDUCTIONS, Rule, rules_for
from npbert.gradcheck.explain.places import CodePlace, is_idle
from npbert.gradcheck.explain.reasons import CHEAP, KINDS
from npbert.gradcheck.explain.vocabulary import Vocabulary

_AROUND = ("missing factor", "missing term", "sign of the whole")  # they put something around existing code
_AXES = ("None", "0", "1", "-1", "-2", "(0, 1)")
_HANDED_ON = 1.0  # the extra cost for a name that is only passed on
_FORGOTTEN, _RETURNED = -0.7, 1.0  # the extra costs for using an unread name, and in a return
_OF_SHAPE = ("shape", "size", "ndim", "dtype")
_LEFT_OUT = ("U", "B")  # existing but unread names, and parts that are not run
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


def edit_of(place: CodePlace, kind: str, new: ast.expr, more: float = 0.0) -> Edit:
    """Return the edit that puts another expression in a place. A name that is only passed on misses nothing."""
    if place.is_count and (kind in _OF_AMOUNTS or (place.in_brackets and kind in ("size", "wrong name"))):
        kind = "index" if place.in_brackets else "range" if place.role == "args" else "axis"
    is_late = isinstance(place.statement, ast.Return) or KINDS[kind].cost > CHEAP
    if is_late and place.is_handed_on:
        more += _HANDED_ON
    if not hasattr(new, "lineno"):  # the next edit may be inside it
        ast.fix_missing_locations(ast.copy_location(new, place.expr))
    return Edit(kind, place.expr.lineno, {id(place.expr): new}, place.expr, new, more)


class PlaceEdits:
    """The edits of one expression: `near` changes existing code, `anew(kind)` adds new code."""

    def __init__(self, place: CodePlace, vocabulary: Vocabulary) -> None:
        self.place, self.vocabulary = place, vocabulary
        self._near: list[Rule] = []
        self._anew: dict[str, list[Rule]] = {}
        for rule, _ in rules_for(place.expr, place.sorts):
            is_near = KINDS[rule.kind].cost <= CHEAP or rule.drawn in _LEFT_OUT
            (self._near if is_near else self._anew.setdefault(rule.kind, [])).append(rule)

    @property
    def kinds(self) -> list[str]:
        """Return the kinds that can add new code here."""
        return list(self._anew)

    def near(self) -> Iterator[Edit]:
        """Return the small changes of existing code, and uses of unread names."""
        yield from self._made(self._near)
        if isinstance(self.place.expr, ast.Call):
            yield from (edit_of(self.place, kind, new) for kind, new in _of_call(self.place.expr))

    def anew(self, kind: str) -> Iterator[Edit]:
        """Yield the additions of a kind, the simplest first."""
        return self._made(self._anew[kind])

    def _made(self, rules: list[Rule]) -> Iterator[Edit]:
        place = self.place
        for letter in dict.fromkeys(rule.drawn for rule in rules):
            more = _FORGOTTEN + _RETURNED * isinstance(place.statement, ast.Return) if letter in _LEFT_OUT else 0.0
            alike = [(rule, rule.found_in(place.expr)) for rule in rules if rule.drawn == letter]
            for drawn in ([each] for each in self.vocabulary.drawn(letter, place)) if letter else [[]]:
                for rule, found in alike:
                    new = rule.made(found or {}, *drawn)
                    if not (rule.kind == "extra term" and isinstance(new, ast.Constant)):  # 1 - p is not a sum
                        yield edit_of(place, rule.kind, new, more)


def _of_call(e: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Return edits of a call: without it, with another function, along other axes."""
    attribute = e.func if isinstance(e.func, ast.Attribute) else None
    name = attribute.attr if attribute else getattr(e.func, "id", "")
    is_method = attribute is not None and not text_of(attribute.value).startswith(("np", "math"))
    args = [*([attribute.value] if attribute and is_method else []), *e.args]
    kind = "transpose" if name in ("transpose", "swapaxes") else "extra step"
    yield from ((kind, each) for each in args if not isinstance(each, ast.Starred))
    for kind, other in MIXED_UP.get(name, ()):
        func = ast.Attribute(attribute.value, other, ast.Load()) if attribute else ast.Name(other, ast.Load())
        yield kind, ast.Call(func, e.args, e.keywords)
    if name in REDUCTIONS or any(k.arg == "axis" for k in e.keywords):
        yield from _of_axes(e, 0 if is_method else 1)


def _of_axes(e: ast.Call, at: int) -> Iterator[tuple[str, ast.expr]]:
    """Return the call along every other axis, with and without keepdims. at: the index of the axis argument"""
    given = {k.arg: text_of(k.value) for k in e.keywords}
    old = given.get("axis", text_of(e.args[at]) if len(e.args) > at else "None")
    for axis, keep in itertools.product(dict.fromkeys((*_AXES, old)), ("False", "True")):
        if (axis, keep) != (old, given.get("keepdims", "False")):
            texts = {"axis": axis if axis != "None" else "", "keepdims": keep if keep == "True" else ""}
            keywords = [k for k in e.keywords if k.arg not in texts]
            keywords += [ast.keyword(name, filled(text)) for name, text in texts.items() if text]
            kinds = {"axis": axis != old, "keepdims": keep != given.get("keepdims", "False")}
            kind = "argument" if all(kinds.values()) else next(name for name, is_other in kinds.items() if is_other)
            yield kind, ast.Call(e.func, e.args[:at], keywords)


def statement_edits(code: Code) -> Iterator[Edit]:
    """Return every small edit of a whole statement."""
    for statement in _inside(code, code.entry):
        for kind, news in _in_place_of(statement):
            placed = [each if hasattr(each, "lineno") else ast.copy_location(each, statement) for each in news]
            yield Edit(kind, statement.lineno, {id(statement): placed}, statement, placed)
    values = [(each, getattr(each, "value", None)) for each in _inside(code, code.entry)]
    computing = [(each, value) for each, value in values if isinstance(each, ast.Assign | ast.Return) and value]
    for number, (statement, value) in enumerate(computing):
        needed = _needed_for(value, computing[:number])
        for product in ast.walk(value):
            if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
                for factor, rest in (("left", "right"), ("right", "left")):
                    at = _Factor(product, factor, rest, statement.lineno)
                    yield from (at.moved([later]) for _, later in computing[number:] if later is not product)
                    yield from map(at.moved, needed)


def _needed_for(value: ast.expr, before: Sequence[tuple[ast.stmt, ast.expr]]) -> list[list[ast.Name]]:
    """Return, for each name that goes into a value through the statements before, the places that read it."""
    reads = _reads(value)
    made = set[str]()
    for statement, other in reversed(before):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id in {each.id for each in reads}:
            made.add(target.id)
            reads += _reads(other)
    return [[each for each in reads if each.id == name] for name in sorted({each.id for each in reads} - made)]


def _reads(value: ast.expr) -> list[ast.Name]:
    """Return the names in it that are used for their numbers, not for their shape."""
    shapes = [node.value for node in ast.walk(value) if isinstance(node, ast.Attribute) and node.attr in _OF_SHAPE]
    return [node for node in ast.walk(value) if isinstance(node, ast.Name) and node not in shapes]


class _Factor(NamedTuple):
    """One side of a product. line: of its statement"""

    product: ast.BinOp
    side: str
    rest: str
    line: int

    def moved(self, places: Sequence[ast.expr]) -> Edit:
        """Return the edit that moves this factor from the product to these places."""
        factor: ast.expr = getattr(self.product, self.side)
        inside = set(map(id, ast.walk(factor)))
        changes: dict[int, Replacement] = {
            id(place): lambda e: filled("a * b", a=e, b=factor) for place in places if id(place) not in inside
        }
        changes[id(self.product)] = attrgetter(self.rest)
        return Edit("misplaced factor", self.line, changes, self.product, getattr(self.product, self.rest))


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
