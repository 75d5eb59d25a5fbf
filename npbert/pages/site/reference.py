"""The API reference: every public name, room by room, with its signature and what it says of itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from npbert.pages.html import escape
from npbert.pages.site.code import highlighted
from npbert.pages.site.definitions import Definition
from npbert.pages.site.docstring import Texts
from npbert.pages.site.frame import Page
from npbert.pages.site.library import Library, relative
from npbert.pages.site.sources import Source
from npbert.pages.site.statements import Function

_SHOWN = ("__call__", "__len__", "__getitem__", "__iter__")


def public_names(source: Source) -> list[str]:
    """What `__all__` of a file lists, in its order."""
    for node in source.tree.body:
        is_list = isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]
        if is_list and isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
            return [str(each.value) for each in node.value.elts if isinstance(each, ast.Constant)]
    return []


def rooms_with_names(library: Library) -> list[Source]:
    """The files whose public names have a page of the reference, npbert itself first."""
    rooms = [source for source in library.sources if source.stem == "__init__" and public_names(source)]
    return sorted(rooms, key=lambda source: source.module != "npbert")


def reference_path(source: Source) -> str:
    """The path of the page of a room."""
    return f"api/{source.module}.html"


def reference_pages(library: Library) -> list[Page]:
    """A page for each room. What is public in several is told in the first, and linked from the others."""
    told: dict[int, str] = {}
    return [_Reference(library, room, told).page() for room in rooms_with_names(library)]


class _Reference:
    def __init__(self, library: Library, room: Source, told: dict[int, str]) -> None:
        self.library, self.room, self.told = library, room, told
        self.path = reference_path(room)

    def page(self) -> Page:
        names = public_names(self.room)
        found = [(name, self.library.definitions.find(self.room.module, name)) for name in names]
        entries = "".join(self._entry(name, definition) for name, definition in found)
        index = "".join(f'<li><a href="#{escape(name)}">{escape(name)}</a></li>' for name in names)
        home = escape(relative(self.path, "index.html"))
        text = Texts(self.library, self.room, self.path).of(self.room.tree)
        return Page(
            self.path,
            f"{self.room.module}: what is public",
            "api",
            f'<header><p class="crumbs"><a href="{home}#api">the reference</a></p><h1>{escape(self.room.module)}</h1>'
            f'<div class="lead">{text}</div><ul class="names">{index}</ul></header>{entries}',
        )

    def _entry(self, name: str, definition: Definition | None) -> str:
        if definition is None:
            return f'<section class="entry" id="{escape(name)}"><h2>{escape(name)}</h2></section>'
        known = self.told.setdefault(id(definition.node), f"{self.path}#{name}")
        if known != f"{self.path}#{name}":
            link = f'<p>Told <a href="{escape(relative(self.path, known))}">here</a>.</p>'
            return f'<section class="entry" id="{escape(name)}"><h2>{escape(name)}</h2>{link}</section>'
        texts = Texts(self.library, definition.source, self.path)
        members = "".join(self._member(texts, definition, node) for node in _methods(definition.node))
        return (
            f'<section class="entry" id="{escape(name)}"><h2>{escape(name)} {self._source(definition)}</h2>'
            f"{self._signature(definition)}{self._text(texts, definition)}{members}</section>"
        )

    def _member(self, texts: Texts, owner: Definition, node: Function) -> str:
        member = Definition(owner.source, f"{owner.name}.{node.name}", node)
        text = texts.of(node, owner)
        return (
            f'<div class="member" id="{escape(owner.name)}.{escape(node.name)}">{self._signature(member)}'
            f'<div class="text">{text}</div></div>'
        )

    def _text(self, texts: Texts, definition: Definition) -> str:
        if isinstance(definition.node, ast.ClassDef):
            return f'<div class="text">{texts.of(definition.node, definition)}</div>'
        if isinstance(definition.node, Function | ast.Module):
            return f'<div class="text">{texts.of(definition.node)}</div>'
        body = definition.source.tree.body  # a value: the text that stands below it
        after = body[body.index(definition.node) + 1 :] if definition.node in body else []
        if after and isinstance(after[0], ast.Expr) and isinstance(after[0].value, ast.Constant):
            said = str(after[0].value.value)
            return f'<div class="text">{texts.html(said, after[0].lineno)}</div>'
        return ""

    def _source(self, definition: Definition) -> str:
        href = escape(relative(self.path, definition.address))
        return f'<a class="to-source" href="{href}">{escape(definition.source.path)}</a>'

    def _signature(self, definition: Definition) -> str:
        shown = signature(definition)
        lines = highlighted(shown, lambda address: relative(self.path, address))
        return f'<pre class="signature" translate="no">{chr(10).join(lines)}</pre>'


def _methods(node: ast.AST) -> Iterator[Function]:
    """The public methods of a class, without the setters of properties; what makes it is in its signature."""
    for each in getattr(node, "body", []):
        if isinstance(each, Function) and (not each.name.startswith("_") or each.name in _SHOWN):
            decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in each.decorator_list}
            if "setter" not in decorators:
                yield each


def signature(definition: Definition) -> str:
    """How it is called: a function with its arguments, a class with those of its __init__ or its fields."""
    node = definition.node
    if isinstance(node, Function):
        decorators = [f"@{name}\n" for name in map(ast.unparse, node.decorator_list) if re.fullmatch(r"\w+", name)]
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"{''.join(decorators)}def {node.name}({_arguments(node)}){returns}"
    if isinstance(node, ast.ClassDef):
        bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
        made = next((each for each in node.body if isinstance(each, Function) and each.name == "__init__"), None)
        fields = [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign)]
        lines = [f"__init__({_arguments(made)})"] if made else fields
        return f"class {node.name}{bases}" + "".join(f"\n    {line}" for line in lines)
    if isinstance(node, ast.Module):
        return f"import {definition.source.module}"
    return ast.unparse(node)


def _arguments(node: Function) -> str:
    """The arguments without self."""
    text = ast.unparse(node.args)
    return re.sub(r"^(?:self|cls)(?:, |$)", "", text)
