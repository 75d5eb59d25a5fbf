"""Edit: a small change of the code by the grammar, of an expression or a whole statement."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from npbert.gradcheck.explain.code import Change, Code, depends, names_in, text_of, tidied, variables_of
from npbert.gradcheck.explain.grammar import CHEAP, KINDS, Rule, rules_for
from npbert.gradcheck.explain.places import CodePlace
from npbert.gradcheck.explain.vocabulary import Vocabulary

CHANGES = {name for name, kind in KINDS.items() if kind.cost <= CHEAP}
"""The kinds of edits that change existing code."""

_REMOVING = "extra term", "extra step"
"""Kinds of edits that leave a part of an expression, which may not be a constant."""

_SIMPLE = ast.Assign | ast.AugAssign | ast.Expr | ast.Return
"""Statements before which another fits on their line."""


@dataclass(frozen=True)
class Edit:
    """code: before the edit   kind: see grammar.py   changes: of its text
    told: the statement to show, or None for an edit of an expression, which is in brackets
    place: of the only expression, if its value can be seen from outside
    """

    code: Code
    kind: str
    changes: Sequence[Change]
    told: ast.stmt | None = None
    place: CodePlace | None = None

    @cached_property
    def span(self) -> tuple[int, int]:
        """The start and the end in the code's text of all changes, and of the statement to show."""
        places = [(start, end) for start, end, _ in self.changes]
        if self.told:
            places.append(self.code.span(self.told))
        starts, ends = zip(*places, strict=True)
        return min(starts), max(ends)

    @cached_property
    def old(self) -> str:
        """The text there."""
        return self.code.piece(self.span)

    @cached_property
    def new(self) -> str:
        """What replaces it."""
        return self.code.piece(self.span, self.changes)

    @property
    def line(self) -> int:
        """The first line of `old`, in the author's file."""
        return self.code.first + self.code.text.count(b"\n", 0, self.span[0])

    def rank(self, more: float = 0.0) -> tuple[float, int, int]:
        """Return a sort key: the smallest is closest to the existing code. more: an extra cost"""
        old, new = _size(self.old), _size(self.new)
        return KINDS[self.kind].cost + more, abs(new - old) + new // 3, self.line

    @cached_property
    def applied(self) -> Code:
        """The code with the edit, and with the same line numbers."""
        breaks = "\n" * (self.old.count("\n") - self.new.count("\n"))
        at = len(self.new) - (self.told is None)  # before the last bracket of an expression
        return self.code.edited([(*self.span, f"{self.new[:at]}{breaks}{self.new[at:]}")])

    def parts(self) -> list[Edit]:
        """Return the edits to show: of each expression by itself, if there are several."""
        return [self] if self.told else [replace(self, changes=[change]).tidied() for change in self.changes]

    def tidied(self) -> Edit:
        """Return the edit without needless brackets."""
        if self.told or len(self.changes) > 1:
            return self
        new = tidied(self.new)
        bare, around = (replace(self, changes=[(*self.span, text)]) for text in (new, f"({new})"))
        one, other = (tidied(each.applied.text.decode()) for each in (bare, around))
        return bare if one == other else around


def _size(text: str) -> int:
    return len(re.findall(r"[\d.]+|\w+|[^\w\s()]", text))


def edits_of(place: CodePlace, vocabulary: Vocabulary, kinds: Container[str]) -> Iterator[Edit]:
    """Yield the edits of one expression, of these kinds."""
    code = vocabulary.code
    by_letter: dict[str, list[tuple[Rule, dict[str, str]]]] = {}
    for rule, parts in rules_for(place.expr, place.sorts):
        if rule.kind in kinds:
            by_letter.setdefault(rule.drawn, []).append((rule, parts))
    for letter, rules in by_letter.items():
        for drawn in vocabulary.drawn(letter, place):
            for rule, parts in rules:
                new, kind = rule.made(parts, drawn), rule.kind
                if kind in _REMOVING and re.fullmatch(r"[\d(.)-]+", new):  # 1 - p is no sum, reshape(-1, 1) no step
                    continue
                change = (*code.span(place.expr), f"({new})")
                yield Edit(code, place.count or kind, [change], place=None if place.hidden else place)


def statement_edits(
    places: Iterable[CodePlace], vocabulary: Vocabulary, fine: Container[ast.stmt] = ()
) -> Iterator[Edit]:
    """Yield every small edit of whole statements, and their moves. places: in these statements, the same order. fine:
    statements of which no factor is moved, as their numbers are right"""
    code, place_in = vocabulary.code, {place.statement: place for place in places if not place.hidden}
    statements = [*place_in]
    for number, each in enumerate(statements):
        before, after = statements[:number], statements[number + 1 :]
        for rule, parts in rules_for(each):
            for drawn in vocabulary.drawn(rule.drawn, place_in[each]):
                change = (*code.span(each), tidied(rule.made(parts, drawn)))
                yield Edit(code, rule.kind, [change], each)
        if isinstance(each, _SIMPLE) and not isinstance(each, ast.Return):
            yield Edit(code, "extra line", [(*code.span(each), "pass")], each)
            yield from _moved_lines(code, each, before, after)
            yield from _later_uses(code, each, after)
        if each not in fine:
            yield from _moved_factors(code, each, before)


def _moved_factors(code: Code, statement: ast.stmt, before: Sequence[ast.stmt]) -> Iterator[Edit]:
    """Yield every move of a factor to all uses of a name in its statement and those before it."""
    computing = [each for each in (*before, statement) if isinstance(each, ast.Assign | ast.Return)]
    uses = _uses_in(code, computing)
    for product in ast.walk(statement) if statement in computing else ():
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
            for factor, rest in itertools.permutations((product.left, product.right)):
                (start, end), (first, to), inside = code.span(product), code.span(rest), range(*code.span(factor))
                changes = [(start, first, "("), (to, end, ")")]
                for name, places in uses.items():
                    new = f"(({name}) * ({text_of(factor)}))"
                    others = [(*place, new) for place in places if place[0] not in inside]
                    yield Edit(code, "misplaced factor", [*changes, *others], statement)


def _moved_lines(
    code: Code, statement: ast.stmt, before: Sequence[ast.stmt], after: Sequence[ast.stmt]
) -> Iterator[Edit]:
    """Yield the moves of a line past the nearest statement with which it shares a changed variable, and into or out of
    a loop."""
    text, line, (start, end) = code.text, code.source(statement), code.span(statement)
    above, below = len(text[:start].rstrip()), len(text) - len(text[end:].lstrip())
    earlier = [other for other in reversed(before) if depends(statement, other)]
    later = [other for other in after if depends(statement, other)]
    around = [other for other in earlier if statement in ast.walk(other)]
    into = [other.body[0] for other in later if isinstance(other, ast.For)]
    ahead = dict.fromkeys([*earlier[:1], *around, *into])
    moves = [(code.span(other)[0], f"{line}{_indent(other)}") for other in ahead]
    moves += [(code.span(other)[1], f"{_indent(other)}{line}") for other in (*around, *later[:1])]
    for at, new in moves:
        cut = (above, end, "") if at < start else (start, below, "")
        yield Edit(code, "line order", [cut, (at, at, new)], statement)


def _later_uses(code: Code, statement: ast.stmt, after: Sequence[ast.stmt]) -> Iterator[Edit]:
    """Yield the use of a variable as it was before a statement changed it, alone or added, and the addition of what a
    call returns, if that is not used: in one place after the statement, in the first ones, or from a statement on."""
    start, _ = code.span(statement)
    changed, _ = variables_of(statement)
    lost = changed if isinstance(statement, ast.AugAssign) else changed & {name.id for name in names_in(statement)}
    for name, read in _uses_in(code, after).items():
        kind, first, news = "overwritten", f"{name}_before = np.copy({name}); ", ["{}_before", "({0} + {0}_before)"]
        if isinstance(statement, ast.Expr):
            kind, first, news = "unused result", "unused = ", ["({} + unused)"]
        elif name not in lost:
            continue
        places = sorted(read)
        some = [[place] for place in places] + [places[:count] for count in range(2, len(places))]
        is_whole = name not in {text_of(each.value) for each in ast.walk(statement) if isinstance(each, ast.Subscript)}
        uses = [each for each in after if isinstance(each, _SIMPLE) and name in variables_of(each)[1]]
        later = [code.span(each)[0] for each in uses if is_whole]
        for new in (each.format(name) for each in news):
            changes = [[(*place, new) for place in these] for these in some]
            changes += [[(at, at, f"{name} = {new}; ")] for at in later]
            for each in changes:
                yield Edit(code, kind, [(start, start, first), *each], statement)


def _uses_in(code: Code, statements: Iterable[ast.stmt]) -> dict[str, set[tuple[int, int]]]:
    """Return where each variable is read, by its name: the starts and the ends in the text."""
    uses: dict[str, set[tuple[int, int]]] = {}
    for each in statements:
        for name in names_in(each):
            uses.setdefault(name.id, set()).add(code.span(name))
    return uses


def _indent(statement: ast.stmt) -> str:
    return "\n" + " " * statement.col_offset
