"""Edit: a small change of the code by the grammar, of an expression or a whole statement."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from npbert.gradcheck.explain.code import Change, Code, text_of, tidied
from npbert.gradcheck.explain.foreign import right_expressions
from npbert.gradcheck.explain.grammar import Rule, rules_for
from npbert.gradcheck.explain.places import CodePlace
from npbert.gradcheck.explain.reasons import CHEAP, KINDS
from npbert.gradcheck.explain.trace import Event
from npbert.gradcheck.explain.vocabulary import Vocabulary

RIGHT = 1.0
"""The extra cost of an edit where the numbers are right: all common mistakes elsewhere come first."""

_OF_MEMORY = ("= or +=", "in place", "new array", "copy")
"""Kinds that say where right numbers go."""

_OF_AMOUNTS = ("sign", "sign of the whole", "missing term", "extra term", "missing factor", "extra factor", "constant")
"""Kinds for computed numbers, not for a range, an axis or an index."""


@dataclass(frozen=True)
class Edit:
    """kind, cost: see reasons.py   line: in the author's file   start: in the code's text   old, new: the affected
    expression in brackets, or whole statements, and what replaces it   rule: of the grammar, for an
    expression
    """

    kind: str
    cost: float
    line: int
    start: int
    old: str
    new: str
    rule: Rule | None = None

    @property
    def is_expression(self) -> bool:
        """False for whole statements."""
        return self.rule is not None

    @property
    def end(self) -> int:
        """The end of `old` in the code's text."""
        return self.start + len(self.old.encode())

    @property
    def end_line(self) -> int:
        """The last line of `old`."""
        return self.line + self.old.count("\n")

    @property
    def rank(self) -> tuple[float, int, int]:
        """A sort key: the smallest is closest to the existing code."""
        old, new = _size(self.old), _size(self.new)
        return self.cost, abs(new - old) + new // 3, self.line

    def of(self, code: Code) -> Code:
        """Return the code with the edit, and with the same line numbers."""
        breaks = "\n" * (self.old.count("\n") - self.new.count("\n"))
        at = len(self.new) - self.is_expression  # before its last bracket
        return code.edited([(self.start, self.end, f"{self.new[:at]}{breaks}{self.new[at:]}")])

    def tidied(self, code: Code) -> Edit:
        """Return the edit without needless brackets."""
        bare = replace(self, new=tidied(self.new))
        around = replace(self, new=f"({bare.new})")
        one, other = (tidied(each.of(code).text.decode()) for each in (bare, around))
        return bare if one == other or not self.is_expression else around


def _size(text: str) -> int:
    return len(re.findall(r"[\d.]+|\w+|[^\w\s()]", text))


def adds_code(rule: Rule) -> bool:
    """False for a change of existing code."""
    return KINDS[rule.kind].cost > CHEAP


def edits_of(
    place: CodePlace, vocabulary: Vocabulary, is_wanted: Callable[[Rule], bool], more: float = 0.0
) -> Iterator[Edit]:
    """Yield the edits of one expression by the wanted rules. more: an extra cost"""
    start, end = vocabulary.code.span(place.expr)
    old = vocabulary.code.text[start:end].decode()
    by_letter: dict[str, list[tuple[Rule, dict[str, str]]]] = {}
    for rule, parts in rules_for(place.expr, place.sorts):
        if is_wanted(rule):
            by_letter.setdefault(rule.drawn, []).append((rule, parts))
    for letter, rules in by_letter.items():
        for drawn in vocabulary.drawn(letter, place):
            for rule, parts in rules:
                new, kind = rule.made(parts, drawn), rule.kind
                if kind == "extra term" and re.fullmatch(r"[\d(.)-]+", new):  # 1 - p is not a sum
                    continue
                if place.count and (kind in _OF_AMOUNTS or (place.count == "index" and kind in ("size", "wrong name"))):
                    kind = place.count
                yield Edit(kind, KINDS[kind].cost + more, place.expr.lineno, start, old, f"({new})", rule)


def transplants(place: CodePlace, code: Code, right: Sequence[Event]) -> Iterator[Edit]:
    """Yield the expressions of a right run as edits of a place."""
    start, end = code.span(place.expr)
    for text in right_expressions(place, right, code.scope):
        cost, old = KINDS["expression"].cost, code.text[start:end].decode()
        yield Edit("expression", cost, place.expr.lineno, start, old, f"({text})", Rule("expression", None, text, ""))


def statement_edits(code: Code, statements: Iterable[ast.stmt], fine: Container[ast.stmt]) -> Iterator[Edit]:
    """Yield every small edit of a whole statement. If its numbers are right, as in `fine`, an edit of them costs
    more."""
    for each in statements:
        is_unpacked = isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Tuple | ast.List)
        for rule, parts in rules_for(each):
            if not is_unpacked or rule.kind == "order":
                more = RIGHT if each in fine and rule.kind not in _OF_MEMORY else 0.0
                yield _of_statements(code, rule.kind, each, each, [(*code.span(each), tidied(rule.made(parts)))], more)
        if isinstance(each, ast.Assign | ast.AugAssign | ast.Expr):
            yield _of_statements(code, "extra line", each, each, [(*code.span(each), "pass")])


def moved_factors(code: Code, statements: Iterable[ast.stmt]) -> Iterator[Edit]:
    """Yield every move of a factor to another place, in its statement or across statements."""
    computing = [each for each in statements if isinstance(each, ast.Assign | ast.Return) and each.value]
    for number, each in enumerate(computing):
        for product in ast.walk(each):
            if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
                yield from _moves(code, product, computing[: number + 1], computing[number:])


def _of_statements(
    code: Code, kind: str, first: ast.stmt, last: ast.stmt, changes: Sequence[Change], more: float = 0.0
) -> Edit:
    """Return the edit with these changes, from the first to the last statement."""
    (start, _), (_, end) = code.span(first), code.span(last)
    new = code.edited(changes).text
    after = new[start : end + len(new) - len(code.text)]
    old = code.text[start:end]
    return Edit(kind, KINDS[kind].cost + more, first.lineno, start, old.decode(), after.decode())


def _moves(code: Code, product: ast.BinOp, before: Sequence[Any], after: Sequence[Any]) -> Iterator[Edit]:
    """Return every move of a factor to all uses of a name in the statements up to its product, or to a value of those
    from there on."""
    ways = [([later.value], after[0], later) for later in after if later.value is not product]
    uses: dict[str, list[tuple[ast.stmt, ast.expr]]] = {}
    for statement in before:
        for name in _read_in(statement.value):
            uses.setdefault(name.id, []).append((statement, name))
    ways += [([name for _, name in each], each[0][0], before[-1]) for each in uses.values()]
    start, end = code.span(product)
    for factor, rest in ((product.left, product.right), (product.right, product.left)):
        (first, last), inside = code.span(rest), range(*code.span(factor))
        for places, top, bottom in ways:
            changes = [(start, first, "("), (last, end, ")")]
            for at, to in map(code.span, places):
                if at not in inside:
                    changes += [(at, at, "(("), (to, to, f") * ({text_of(factor)}))")]
            yield _of_statements(code, "misplaced factor", top, bottom, changes)


def _read_in(value: ast.AST) -> Iterator[ast.Name]:
    """Return the names in it that are used for their numbers, not for their shape."""
    shapes = [n.value for n in ast.walk(value) if isinstance(n, ast.Attribute) and n.attr in ("shape", "size", "ndim")]
    return (node for node in ast.walk(value) if isinstance(node, ast.Name) and node not in shapes)
