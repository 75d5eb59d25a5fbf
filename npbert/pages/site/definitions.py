"""The definition of each name, found from the syntax alone: nothing is imported for it."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from npbert.pages.site.sources import Function, Source, arguments, defined_in, imported_in, last_assigned


@dataclass(frozen=True, eq=False)
class Definition:
    """A class, a function, an attribute or a value: its file, and its name there, as `Linear.backward`."""

    source: Source
    name: str
    node: ast.AST

    @property
    def line(self) -> int:
        """The line of its name."""
        return int(getattr(self.node, "lineno", 1))

    @property
    def anchor(self) -> str:
        """The place on its page: classes and functions by their names, all else by its line."""
        return self.name if isinstance(self.node, ast.ClassDef | Function) else f"L{self.line}"

    @property
    def address(self) -> str:
        """The page and the place on it."""
        return f"{self.source.page}#{self.anchor}" if self.name else self.source.page


class Scope(NamedTuple):
    """The place of an expression: a module, and there perhaps a class, and a function or method."""

    module: str
    owner: Definition | None = None
    function: Function | None = None


class Definitions:
    """All that is defined in these files, and what leads to it."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.sources = {source.module: source for source in sources}
        self._defined: dict[tuple[str, str], Definition] = {}
        self._imported: dict[tuple[str, str], tuple[str, str]] = {}
        self._stars: dict[str, list[str]] = {}  # by module, those from which it imports *
        for source in self.sources.values():
            for name, node in defined_in(source.tree.body, ""):
                self._defined.setdefault((source.module, name), Definition(source, name, node))
            for name, module, what in imported_in(source.tree):
                self._imported[source.module, name] = module, what
                if name == "*":
                    self._stars.setdefault(source.module, []).append(module)

    def find(self, module: str, name: str) -> Definition | None:
        """The meaning of a name, `a.b` perhaps, in a module: through imports, base classes and types of attributes."""
        first, _, rest = name.partition(".")
        found = self._find(module, first, 0)
        if found is None or not rest:
            return found
        if not found.name:  # a module
            return self.find(found.source.module, rest)
        return self.member(found, rest)

    def _find(self, module: str, name: str, depth: int) -> Definition | None:
        if (module, name) in self._defined:
            return self._defined[module, name]
        source, imported = self.sources.get(module), self._imported.get((module, name))
        if imported and depth < 9:
            return self._find(*imported, depth + 1) if imported[1] else self._module(imported[0])
        for star in self._stars.get(module, []):
            if found := self._find(star, name, depth + 1):
                return found
        return self._module(f"{module}.{name}") if source else None

    def _module(self, module: str) -> Definition | None:
        source = self.sources.get(module)
        return Definition(source, "", source.tree) if source else None

    def member(self, owner: Definition, name: str) -> Definition | None:
        """The meaning of `name` in a class: of its own, or of the classes that it is made from."""
        first, _, rest = name.partition(".")
        for each in self.lineage(owner):
            found = self._defined.get((each.source.module, f"{each.name}.{first}"))
            if found:
                if not rest:
                    return found
                kind = self.type_of(found)
                return self.member(kind, rest) if kind else None
        return None

    def lineage(self, owner: Definition) -> Iterator[Definition]:
        """A class, and those of npbert that it is made from."""
        yield owner
        for base in getattr(owner.node, "bases", []):
            found = self.find(owner.source.module, ast.unparse(base))
            if found and found is not owner:
                yield from self.lineage(found)

    def type_of(self, definition: Definition) -> Definition | None:
        """The class of what a definition holds or, of a function, gives back; None where it is none of npbert's."""
        node, module = definition.node, definition.source.module
        if isinstance(node, ast.ClassDef):
            return definition
        if isinstance(node, Function):
            return self.annotated(module, node.returns)
        if isinstance(node, ast.AnnAssign):
            return self.annotated(module, node.annotation)
        if isinstance(node, ast.Assign):
            owner = self._defined.get((module, definition.name.rpartition(".")[0]))
            methods = [each for each in getattr(owner and owner.node, "body", []) if isinstance(each, Function)]
            around = (each for each in methods if each.lineno <= definition.line <= (each.end_lineno or 0))
            return self._class_of(node.value, Scope(module, owner, next(around, None)))
        return None

    def annotated(self, module: str, annotation: ast.expr | None) -> Definition | None:
        """The class of npbert that an annotation names, None beside it or not."""
        if isinstance(annotation, ast.BinOp):
            return self.annotated(module, annotation.left) or self.annotated(module, annotation.right)
        if isinstance(annotation, ast.Name | ast.Attribute):
            found = self.find(module, ast.unparse(annotation))
            return found if found and isinstance(found.node, ast.ClassDef) else None
        return None

    def _class_of(self, value: ast.AST, scope: Scope) -> Definition | None:
        """The class of an expression, as far as it can be seen."""
        module, owner, function = scope
        if isinstance(value, ast.Name):
            if value.id in ("self", "cls") and owner:
                return owner
            for argument in arguments(function) if function else []:
                if argument.arg == value.id:
                    return self.annotated(module, argument.annotation)
            assigned = last_assigned(function, value) if function else None
            if assigned is not None:
                return self._class_of(assigned, scope)
            found = self.find(module, value.id)
            return self.type_of(found) if found and not isinstance(found.node, ast.ClassDef | Function) else None
        if isinstance(value, ast.Attribute):
            holder = self._class_of(value.value, scope)
            found = self.member(holder, value.attr) if holder else None
            return self.type_of(found) if found and not isinstance(found.node, ast.ClassDef) else None
        if isinstance(value, ast.Call):
            called = self.meant(value.func, scope)
            return self.type_of(called) if called else None
        return None

    def meant(self, value: ast.AST, scope: Scope) -> Definition | None:
        """The definition that a name or an attribute leads to."""
        if isinstance(value, ast.Name):
            return self.find(scope.module, value.id)
        if isinstance(value, ast.Attribute):
            if holder := self._class_of(value.value, scope):
                return self.member(holder, value.attr)
            around = self.meant(value.value, scope)
            if around and not around.name:
                return self.find(around.source.module, value.attr)
            if around and isinstance(around.node, ast.ClassDef):
                return self.member(around, value.attr)
        return None

    @cached_property
    def by_name(self) -> dict[str, list[Definition]]:
        """Classes and functions by their last name, for what a text mentions."""
        found: dict[str, list[Definition]] = {}
        for definition in self._defined.values():
            if isinstance(definition.node, ast.ClassDef | Function):
                found.setdefault(definition.name.rpartition(".")[2], []).append(definition)
        return found

    def all(self) -> Iterator[Definition]:
        """Every class, function, attribute and value."""
        yield from self._defined.values()
