"""What the statements of a file define, import and give a value to."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

Function = ast.FunctionDef | ast.AsyncFunctionDef


def statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """The statements inside a node, the outermost first; ast.walk would go through all expressions, too."""
    found = [node]
    while found:
        found = [inner for each in found for part in _PARTS for inner in getattr(each, part, ())]
        yield from found


_PARTS = ("body", "handlers", "cases", "orelse", "finalbody")


def defined_in(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """(name, node) of what these statements define, and the attributes that methods set on `self`."""
    for node in body:
        if isinstance(node, ast.ClassDef | Function):
            yield f"{prefix}{node.name}", node
        if isinstance(node, ast.ClassDef):
            yield from defined_in(node.body, f"{prefix}{node.name}.")
            for method in node.body:
                yield from _set_on_self(method, f"{prefix}{node.name}.") if isinstance(method, Function) else ()
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from defined_in(node.body, prefix)
        else:
            yield from ((f"{prefix}{target.id}", node) for target in _targets(node) if isinstance(target, ast.Name))


def _set_on_self(method: Function, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    for node in statements_in(method):
        for target in _targets(node):
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                yield f"{prefix}{target.attr}", node


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """What a statement gives a value to."""
    given = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in given:
        yield from target.elts if isinstance(target, ast.Tuple) else [target]


def imported_in(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """(name here, module, name there) of each import of ours; the last is "" for a module."""
    for node in statements_in(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((alias.asname or alias.name, node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.asname, alias.name, "") for alias in node.names if alias.asname)
            yield from (
                (top, top, "") for alias in node.names if not alias.asname for top in [alias.name.partition(".")[0]]
            )


def arguments(function: Function) -> list[ast.arg]:
    """The arguments of a function, but for * and **."""
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


@cache
def assignments(function: Function) -> list[ast.Assign]:
    """What is assigned anywhere in a function. It is looked at again for each name in it, so it is found once."""
    return [node for node in statements_in(function) if isinstance(node, ast.Assign)]


def last_assigned(function: Function, name: ast.Name) -> ast.expr | None:
    """The value that a local variable was given last, above where it is used."""
    values = [
        node.value
        for node in assignments(function)
        if node.lineno < name.lineno
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == name.id
    ]
    return values[-1] if values else None
