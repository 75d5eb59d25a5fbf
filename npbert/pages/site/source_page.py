"""The page of a file: its docstrings on the left and its code on the right; a backward beside its forward."""

import ast
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from npbert.pages.site.definitions import Definition
from npbert.pages.site.docstring import Texts
from npbert.pages.site.library import Library, relative
from npbert.pages.site.names import Place, names_in
from npbert.pages.site.number import NUMBER_PAGE
from npbert.pages.site.pairs import Pair, Undone, give_helpers, pairs_in, undone
from npbert.pages.site.panels import Panels
from npbert.pages.site.rendering import Page, highlighted, listing, render
from npbert.pages.site.sources import Function, Source, first_line, first_sentence

Piece = dict[str, Any]
"""A part of the page, as source.html shows it: its `kind` is imports, code, class, pair or panel."""


def source_page(library: Library, source: Source, panels: Panels, is_followed: bool = False) -> Page:
    """The page of one file. is_followed: whether the page "Follow one number back" has steps that it computes."""
    beside = [each for each in library.sources if each.path.startswith("npbert/") and each.room == source.room]
    body = render(
        "source",
        source.page,
        source=source,
        text=Texts(library, source, source.page).docstring(source.tree),
        chapters=library.chapters_about(source),
        beside=beside,
        steps=f"{NUMBER_PAGE}#file={source.path}" if is_followed else "",
        pieces=list(_File(library, source, panels).pieces()),
    )
    return Page(source.page, source.path, "file", body, first_sentence(source.summary))


class _File:
    """A file, piece by piece in its own order; but a backward stands beside its forward, and what serves it below."""

    def __init__(self, library: Library, source: Source, panels: Panels) -> None:
        self.library, self.source, self.panels = library, source, panels
        self.texts = Texts(library, source, source.page)
        self.anchors: set[str] = set()
        body = source.tree.body
        functions = [node for node in body if isinstance(node, Function)]
        classes = [node for node in body if isinstance(node, ast.ClassDef)]
        self.pairs: dict[ast.AST | None, list[Pair]] = {node: pairs_in(node.body) for node in classes}
        of_file = self.pairs[None] = pairs_in(body)
        outside = [node for node in functions if not any(pair.has(node) for pair in of_file)]
        self.helpers = give_helpers(of_file, functions, body)
        for node in classes:
            own = [each for each in node.body if isinstance(each, Function)]
            self.helpers |= give_helpers(self.pairs[node], [*own, *outside], body)
        marks: dict[Place, str] = {}
        for number, pair in enumerate(pair for pairs in self.pairs.values() for pair in pairs):
            for both in undone(source, pair):
                marks.update(_marks(number, both))
        names = names_in(source, library.definitions)
        self.html = highlighted(source.text, lambda address: relative(source.page, address), names, marks)
        self.docstrings = _docstring_lines(source.tree)

    def pieces(self) -> Iterator[Piece]:
        """The classes, the functions, and what stands between them."""
        body = [node for node in self.source.tree.body if node.lineno not in self.docstrings]
        for _, group in groupby(body, _group):
            first, *more = group
            if isinstance(first, ast.ClassDef):
                yield self._class(first)
            elif isinstance(first, Function):
                yield from self._function(first, None)
            else:
                code = self._code(first, (more or [first])[-1].end_lineno)
                is_import = isinstance(first, ast.Import | ast.ImportFrom)
                yield {"kind": "imports", "code": code} if is_import else self._code_piece("", code)

    def _class(self, node: ast.ClassDef) -> Piece:
        """A class: what makes it, then its methods, with its panel below the last pair."""
        owner = self.library.definitions.find(self.source.module, node.name)
        is_head = [not isinstance(each, Function) or each.name == "__init__" for each in node.body]
        count = (*is_head, False).index(False)
        head, rest = node.body[:count], node.body[count:]
        code = self._code(node, head[-1].end_lineno if head else node.lineno)
        inside = [f"{node.name}.{each.name}" for each in head if isinstance(each, Function)]
        pieces = [self._code_piece(self.texts.docstring(node, owner), code, node.name, "class", inside)]
        for each in rest:
            if isinstance(each, Function):
                pieces += self._function(each, owner)
            else:
                pieces.append(self._code_piece("", self._code(each)))
        last = max((n for n, piece in enumerate(pieces) if piece["kind"] == "pair"), default=len(pieces) - 1)
        pieces[last + 1 : last + 1] = self._panel(owner)
        return {"kind": "class", "name": node.name, "pieces": pieces}

    def _function(self, node: Function, owner: Definition | None) -> Iterator[Piece]:
        """A function, with its backward and its panel if it has them; nothing for one that stands beside another."""
        for pair in self.pairs[owner.node if owner else None]:
            if node is pair.left[0]:
                yield self._pair(pair, owner)
            if pair.has(node):
                return
        if node.name not in self.helpers:
            name = f"{owner.name}.{node.name}" if owner else node.name
            yield self._code_piece(self.texts.docstring(node, owner), self._code(node), name)
            if owner is None:
                yield from self._panel(self.library.definitions.find(self.source.module, name))

    def _panel(self, thing: Definition | None) -> Iterator[Piece]:
        panel = self.panels.panel(thing) if thing else None
        if panel:
            yield {"kind": "panel", "panel": panel}

    def _code_piece(
        self, text: str, code: str, name: str = "", look: str = "", inside: list[str] | None = None
    ) -> Piece:
        """A text with its code on the right. name: its anchor. inside: the anchors of what is in it."""
        anchor = "" if name in self.anchors else name  # a property and its setter have one name
        self.anchors.add(name)
        return {"kind": "code", "text": text, "code": code, "anchor": anchor, "look": look, "inside": inside or []}

    def _pair(self, pair: Pair, owner: Definition | None) -> Piece:
        """Forward on the left, backward on the right, and what serves them below."""
        first, more = self.texts.first_and_rest(pair.left[0], owner)
        is_again = False
        if not first and owner:  # forward says nothing, as it is what the class says
            formula, _ = self.texts.first_and_rest(owner.node, owner)
            first, is_again = (formula if 'class="formula"' in formula else ""), True
        second, why = self.texts.first_and_rest(pair.right[0], owner)
        sides = []
        for nodes in pair:
            names = [self._name(node, owner) for node in nodes]
            codes = [self._code(node) for node in nodes]
            texts = [self.texts.docstring(node, owner) for node in nodes]
            sides.append({"name": nodes[0].name, "helpers": list(zip(names, texts, codes, strict=True))})
        tops = (first, second)
        return {"kind": "pair", "tops": tops, "is_again": is_again, "sides": sides, "why": more + why}

    def _name(self, node: Function, owner: Definition | None) -> str:
        """The anchor of a function, which may stand outside of the class that it serves."""
        in_class = owner is not None and node in getattr(owner.node, "body", [])
        return f"{owner.name}.{node.name}" if owner and in_class else node.name

    def _code(self, first: ast.stmt, end: int | None = None) -> str:
        """The lines from a statement, with the comments above it, to its own end or another, without their docstrings.

        No empty line stands at the ends, and no two below each other.
        """
        lines = self.source.lines
        begin = first_line(first)
        while begin > 1 and lines[begin - 2].lstrip().startswith("#"):
            begin -= 1
        rows: list[tuple[int, str, str]] = []
        for number in range(begin, (end or first.end_lineno or 0) + 1):
            is_empty = not lines[number - 1].strip()
            is_second = is_empty and (not rows or not rows[-1][1].strip() or number - 1 in self.docstrings)
            if number not in self.docstrings and not is_second:
                rows.append((number, lines[number - 1], self.html[number - 1]))
        while rows and not rows[-1][1].strip():
            rows.pop()
        return listing(rows) if rows else ""


def _group(node: ast.stmt) -> object:
    """Equal for statements that stand in one piece: imports, and all else that is neither class nor function."""
    return node if isinstance(node, ast.ClassDef | Function) else isinstance(node, ast.Import | ast.ImportFrom)


def _docstring_lines(tree: ast.Module) -> set[int]:
    """The lines of every docstring of the module, its classes and functions: they stand beside the code."""
    found: set[int] = set()
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Module | ast.ClassDef):
            nodes += [each for each in node.body if isinstance(each, ast.ClassDef | Function)]
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node) is not None:
            text = node.body[0]
            if len(node.body) > 1 or isinstance(node, ast.Module) or text.lineno > node.lineno:
                found |= set(range(text.lineno, (text.end_lineno or 0) + 1))
    return found


def _marks(pair: int, both: Undone) -> dict[Place, str]:
    """The numbers before two calls that belong together: each is a link to the other."""
    done, back = f"u{pair}-{both.number}", f"d{pair}-{both.number}"
    return {
        both.forward: _mark(done, back, both.number, f"undone in line {both.backward[0]}"),
        both.backward: _mark(back, done, both.number, f"undoes line {both.forward[0]}"),
    }


def _mark(anchor: str, other: str, number: int, title: str) -> str:
    return f'<a class="mark" id="{anchor}" href="#{other}" title="{title}" aria-label="{title}">{number}</a>'
