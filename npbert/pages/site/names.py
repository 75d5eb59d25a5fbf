"""What each name in a file leads to, and what shape it has: for the links and the hints in its code."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from npbert.pages.site.definitions import Definition, Definitions
from npbert.pages.site.shapes import Shapes, shape_of, shapes_of
from npbert.pages.site.sources import Source
from npbert.pages.site.statements import Function

Place = tuple[int, int]
"""Line, from 1, and column, from 0."""


@dataclass(frozen=True)
class Name:
    """A name at one place.

    address: page and anchor of its definition. shape: as "(N, D)", or "". local: whether it is a local variable.
    """

    address: str
    shape: str = ""
    local: bool = False


def names_in(source: Source, definitions: Definitions) -> dict[Place, Name]:
    """Every name of a file that leads somewhere, by its place."""
    finder = _Finder(source, definitions)
    finder.visit(source.tree)
    return finder.found


class _Finder(ast.NodeVisitor):
    """Walks through a file, and knows the class and the function that it is in."""

    def __init__(self, source: Source, definitions: Definitions) -> None:
        self.source, self.definitions = source, definitions
        self.found: dict[Place, Name] = {}
        self.owner: Definition | None = None
        self.function: Function | None = None
        self.shapes: Shapes = {}
        self.locals: dict[str, int] = {}

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        before = self.owner
        found = self.definitions.find(self.source.module, node.name) if self.function is None else None
        if self.function is None:
            self.owner = found
        self.generic_visit(node)
        self.owner = before

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if self.function is not None:
            self.generic_visit(node)
            return
        self.function, self.locals = node, _locals_of(node)
        owner = self.owner.node if self.owner and isinstance(self.owner.node, ast.ClassDef) else None
        self.shapes = shapes_of(self.source, owner, node)
        self.generic_visit(node)
        self.function, self.locals, self.shapes = None, {}, {}

    def visit_arg(self, node: ast.arg) -> None:
        self.generic_visit(node)
        if node.arg in self.locals and node.arg not in ("self", "cls"):
            self._local(node, node.arg, node.col_offset)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.locals:
            if node.id not in ("self", "cls"):
                self._local(node, node.id, node.col_offset)
        else:
            self._add(node.lineno, node.col_offset, node.id, self.definitions.find(self.source.module, node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        found = self.definitions.meant(self.source.module, node, self.owner, self.function)
        shape = ""
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            shape = shape_of(node.attr, self.shapes) if not _is_called(found) else ""
        column = (node.end_col_offset or 0) - len(node.attr.encode())
        self._add(node.end_lineno or node.lineno, column, node.attr, found, shape)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            found = self.definitions.find(self.source.module, alias.asname or alias.name)
            self._add(alias.lineno, alias.col_offset, alias.name, found)
        module = self.definitions.sources.get(node.module or "")
        if module:
            line = self.source.lines[node.lineno - 1]
            last = module.module.rpartition(".")[2]
            column = line.find(f" {node.module} ") + 1 + len(module.module) - len(last)
            self._add(node.lineno, column, last, Definition(module, "", module.tree))

    def _local(self, node: ast.expr | ast.arg, name: str, column: int) -> None:
        address = f"{self.source.page}#L{self.locals[name]}"
        self._put(node.lineno, column, name, Name(address, shape_of(name, self.shapes), local=True))

    def _add(self, line: int, column: int, name: str, found: Definition | None, shape: str = "") -> None:
        if found:
            self._put(line, column, name, Name(found.address, shape))

    def _put(self, line: int, column: int, text: str, name: Name) -> None:
        """Columns are those of bytes in a syntax tree, of characters in a line. (In f-strings of Python 3.11 they are
        not to be trusted.)"""
        encoded = self.source.lines[line - 1].encode()
        column = len(encoded[:column].decode(errors="replace"))
        if self.source.lines[line - 1].startswith(text, column):
            self.found[line, column] = name


def _locals_of(function: Function) -> dict[str, int]:
    """The variables of a function and the functions in it, each with the line in which it is first given a value."""
    lines: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            lines[node.arg] = min(node.lineno, lines.get(node.arg, node.lineno))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
        elif isinstance(node, Function) and node is not function:
            lines[node.name] = node.lineno
    return lines


def _is_called(definition: Definition | None) -> bool:
    """Whether it is a function or a part with a forward of its own, which have no shape."""
    return definition is not None and isinstance(definition.node, Function)
