"""The page of a file: what it says on the left and its code on the right; a backward beside its forward."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from npbert.pages.html import escape
from npbert.pages.site.blocks import Blocks, start_of
from npbert.pages.site.definitions import Definition
from npbert.pages.site.frame import Page
from npbert.pages.site.library import Library, relative
from npbert.pages.site.pairs import Pair, give_helpers, pairs_in
from npbert.pages.site.proof_panel import Panels
from npbert.pages.site.sources import Source
from npbert.pages.site.statements import Function


def source_page(library: Library, source: Source, panels: Panels) -> Page:
    """The page of one file."""
    return Page(source.page, source.path, "file", _File(library, source, panels).body())


class _File:
    """A file, piece by piece in its own order; but a backward stands beside its forward, and what serves it below."""

    def __init__(self, library: Library, source: Source, panels: Panels) -> None:
        self.library, self.source, self.panels = library, source, panels
        body = source.tree.body
        self.of_class = {id(node): pairs_in(node.body) for node in body if isinstance(node, ast.ClassDef)}
        self.of_file = pairs_in(body)
        self.given: set[str] = set()
        for node in body:
            if isinstance(node, ast.ClassDef):
                own = [each for each in node.body if isinstance(each, Function)]
                outside = [each for each in body if isinstance(each, Function) and not self._is_paired(each)]
                self.given |= give_helpers(self.of_class[id(node)], [*own, *outside], body)
        self.given |= give_helpers(self.of_file, [each for each in body if isinstance(each, Function)], body)
        pairs = [pair for each in [*self.of_class.values(), self.of_file] for pair in each]
        self.blocks = Blocks(library, source, pairs)
        self.starts: dict[int, int] = {}
        self._find_starts(body, 0)

    def _is_paired(self, node: Function) -> bool:
        return any(node in (pair.forward, pair.backward) for pair in self.of_file)

    def _find_starts(self, body: list[ast.stmt], above: int) -> None:
        """The line where each piece begins."""
        for node in body:
            self.starts[id(node)] = start_of(self.source, node, above)
            if isinstance(node, ast.ClassDef):
                self._find_starts(node.body, node.lineno)
            above = node.end_lineno or above

    def body(self) -> str:
        return f"{self._head()}{''.join(self._pieces())}"

    def _head(self) -> str:
        source, page = self.source, self.source.page
        room = source.room.split("/")[0]
        beside = [each for each in self.library.sources if each.path.startswith("npbert/") and each.room == source.room]
        chips = "".join(
            f'<li{" class=here" if each is source else ""}><a href="{escape(relative(page, each.page))}"'
            f"{' aria-current=page' if each is source else ''}>{escape(each.stem)}</a></li>"
            for each in beside
        )
        where = f"{source.room}/" if room else ""
        text = self.blocks.texts.of(source.tree)
        chapters = ", ".join(
            f'<a href="{escape(relative(page, chapter.page))}">{escape(chapter.title)}</a>'
            for chapter in self.library.chapters_about(source)
        )
        told = f'<p class="quiet">Read beside it: {chapters}</p>' if chapters else ""
        name, home = f"{source.stem}.py", escape(relative(page, "index.html"))
        return (
            f'<header><p class="crumbs"><a href="{home}#source">the source</a> / '
            f'<a href="{home}#room-{escape(room or "npbert")}">{escape(where or "npbert")}</a></p>'
            f"<h1>{escape(name)}</h1><div class=lead>{text}</div>{told}"
            f'<details class="room"><summary>{escape(source.room or "npbert")}: {len(beside)} files</summary>'
            f"<ul>{chips}</ul></details></header>"
        )

    def _pieces(self) -> Iterator[str]:
        """The statements of the file: those that are neither class nor function in blocks."""
        waiting: list[ast.stmt] = []
        body = self.source.tree.body
        if body and _is_docstring(body[0]):
            body = body[1:]
        for node in body:
            if isinstance(node, ast.ClassDef | Function) or (waiting and _is_import(node) != _is_import(waiting[-1])):
                yield self._statements(waiting)
                waiting = []
            if isinstance(node, ast.ClassDef):
                yield self._class(node)
            elif isinstance(node, Function):
                yield self._function(node, None, self.of_file)
            else:
                waiting.append(node)
        yield self._statements(waiting)

    def _statements(self, nodes: list[ast.stmt]) -> str:
        if not nodes:
            return ""
        code = self.blocks.code(self.starts[id(nodes[0])], nodes[-1].end_lineno or 0)
        if _is_import(nodes[0]):
            return f'<details class="imports"><summary>imports</summary>{code}</details>'
        return self.blocks.beside("", code)

    def _function(self, node: Function, owner: Definition | None, pairs: list[Pair]) -> str:
        for pair in pairs:
            if node is pair.forward:
                return self.blocks.pair(pair, owner, lambda each: self.starts[id(each)])
            if node is pair.backward:
                return ""
        if node.name in self.given:
            return ""
        shown = self.blocks.function(node, self.starts[id(node)], owner)
        thing = self.library.definitions.find(self.source.module, node.name) if owner is None else None
        return shown + (self.panels.of(thing, self.source.page) if thing else "")

    def _class(self, node: ast.ClassDef) -> str:
        owner = self.library.definitions.find(self.source.module, node.name)
        pairs = self.of_class[id(node)]
        head = [each for each in node.body if not isinstance(each, Function) or each.name == "__init__"]
        first = next((n for n, each in enumerate(node.body) if each not in head), len(node.body))
        last = (node.body[first - 1].end_lineno if first else None) or node.lineno
        methods = [each.name for each in node.body[:first] if isinstance(each, Function)]
        shown = self.blocks.code(self.starts[id(node)], last)
        anchors = "".join(f'<span id="{escape(f"{node.name}.{name}")}"></span>' for name in methods)
        shown = f"<div>{anchors}{shown}</div>"
        out = [self.blocks.beside(self.blocks.texts.of(node, owner), shown, node.name, "class")]
        for each in node.body[first:]:
            if isinstance(each, Function):
                out.append(self._function(each, owner, pairs))
            else:
                out.append(self.blocks.beside("", self.blocks.code(self.starts[id(each)], each.end_lineno or 0)))
        panel = self.panels.of(owner, self.source.page) if owner else ""
        at = max((n for n, part in enumerate(out) if 'class="pair"' in part), default=len(out) - 1)
        out.insert(at + 1, panel)
        return f'<article aria-label="{escape(node.name)}"><h2>{escape(node.name)}</h2>{"".join(out)}</article>'


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
