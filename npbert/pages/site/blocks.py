"""The pieces of a file as HTML: a function beside its docstring, a forward beside its backward."""

from __future__ import annotations

import ast
from collections.abc import Callable

from npbert.pages.html import escape
from npbert.pages.site.code import highlighted, listing
from npbert.pages.site.definitions import Definition
from npbert.pages.site.docstring import Texts
from npbert.pages.site.library import Library, relative
from npbert.pages.site.names import Place, names_in
from npbert.pages.site.pairs import Pair, Undone, undone
from npbert.pages.site.sources import Source, first_line
from npbert.pages.site.statements import Function


class Blocks:
    """The pieces of one file, for its page."""

    def __init__(self, library: Library, source: Source, pairs: list[Pair]) -> None:
        self.source, self.page = source, source.page
        self.texts = Texts(library, source, source.page)
        marks: dict[Place, str] = {}
        for number, pair in enumerate(pairs):
            for both in undone(source, pair):
                marks.update(_marks(number, both))
        self._html = highlighted(source.text, self._link, names_in(source, library.definitions), marks)
        self._docstrings = _docstring_lines(source.tree)
        self._anchors: set[str] = set()

    def _link(self, address: str) -> str:
        return relative(self.page, address)

    def code(self, first: int, last: int, starts: dict[int, str] | None = None) -> str:
        """The lines from first to last without their docstrings, and without empty lines at either end."""
        rows = [
            (number, self.source.lines[number - 1], self._html[number - 1])
            for number in range(first, last + 1)
            if number not in self._docstrings
        ]
        rows = [
            row for row, above in zip(rows, [(0, "", ""), *rows], strict=False) if row[1].strip() or above[1].strip()
        ]
        rows = [row for row in rows if row[1].strip() or row[0] - 1 not in self._docstrings]
        while rows and not rows[0][1].strip():
            rows.pop(0)
        while rows and not rows[-1][1].strip():
            rows.pop()
        return listing(rows, starts=starts) if rows else ""

    def beside(self, text: str, code: str, name: str = "", kind: str = "") -> str:
        """A text with its code on the right."""
        anchor = f' id="{escape(name)}"' if name and name not in self._anchors else ""
        self._anchors.add(name)  # a property and its setter have one name
        if not text:
            return f'<section class="only {kind}"{anchor}>{code}</section>'
        return f'<section class="both {kind}"{anchor}><div class="text">{text}</div>{code}</section>'

    def function(self, node: Function, start: int, owner: Definition | None) -> str:
        """A function from the line `start`, where the comments above it begin."""
        name = f"{owner.name}.{node.name}" if owner else node.name
        return self.beside(self.texts.of(node, owner), self.code(start, node.end_lineno or 0), name)

    def pair(self, pair: Pair, owner: Definition | None, starts: Callable[[ast.AST], int]) -> str:
        """Forward on the left, backward on the right, and what serves them below."""
        prefix = f"{owner.name}." if owner else ""
        first, more = self.texts.first_and_rest(pair.forward, owner)
        again = ""
        if not first and owner:  # forward says nothing, as it is what the class says
            formula, _ = self.texts.first_and_rest(owner.node, owner)
            first, again = (formula if 'class="formula"' in formula else ""), " again"
        second, why = self.texts.first_and_rest(pair.backward, owner)
        tops = f'<div class="text a{again}">{first}</div><div class="text b">{second}</div>'
        below = f'<div class="text why">{more}{why}</div>' if more or why else ""
        sides = []
        for side, nodes in (("a", pair.left), ("b", pair.right)):
            parts = [self._on_a_side(node, owner, starts(node), number) for number, node in enumerate(nodes)]
            arrow = '<span aria-hidden="true">↓</span> ' if side == "a" else '<span aria-hidden="true">↑</span> '
            shown = f"<h3>{arrow if nodes[0].name != 'value' else ''}{escape(nodes[0].name)}</h3>{''.join(parts)}"
            sides.append(f'<div class="side {side}" id="{escape(prefix + nodes[0].name)}">{shown}</div>')
        return f'<section class="pair">{tops}{"".join(sides)}{below}</section>'

    def _on_a_side(self, node: Function, owner: Definition | None, start: int, number: int) -> str:
        code = self.code(start, node.end_lineno or 0)
        if number == 0:
            return code
        in_class = owner is not None and node in getattr(owner.node, "body", [])
        name = f"{owner.name}.{node.name}" if owner and in_class else node.name
        text = self.texts.of(node, owner)
        told = f'<div class="text">{text}</div>' if text else ""
        return f'<div class="helper" id="{escape(name)}">{told}{code}</div>'


def _docstring_lines(tree: ast.Module) -> set[int]:
    """The lines of every docstring of the module, its classes and functions: they stand beside the code."""
    found: set[int] = set()
    shown: list[ast.AST] = [tree]
    while shown:
        node = shown.pop()
        if isinstance(node, ast.Module | ast.ClassDef):
            shown += [each for each in node.body if isinstance(each, ast.ClassDef | Function)]
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node) is not None:
            alone = len(node.body) > 1 or isinstance(node, ast.Module) or node.body[0].lineno > node.lineno
            if alone:
                found |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return found


def _marks(pair: int, both: Undone) -> dict[Place, str]:
    """The numbers before two calls that belong together: each is a link to the other."""
    there, back = f"u{pair}-{both.number}", f"d{pair}-{both.number}"
    return {
        both.forward: _mark(there, back, both.number, f"undone in line {both.backward[0]}"),
        both.backward: _mark(back, there, both.number, f"undoes line {both.forward[0]}"),
    }


def _mark(anchor: str, other: str, number: int, title: str) -> str:
    return f'<a class="mark" id="{anchor}" href="#{other}" title="{title}" aria-label="{title}">{number}</a>'


def start_of(source: Source, node: ast.AST, above: int) -> int:
    """The line where a piece begins: below the line `above`, with the comments that stand over it."""
    first = first_line(node)
    while first - 1 > above and source.lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return first
