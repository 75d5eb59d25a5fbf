"""The planted bugs: wrong backwards that the tests plant in place of the right one, for the checks to reject.

They are read, not run: a page shows what each says of itself, and the lines that it has in place of the right ones.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from npbert.catalogue import CATALOGUE
from npbert.pages.site.definitions import Definition, Definitions
from npbert.pages.site.sources import Source, read_source
from npbert.pages.site.statements import Function

EVERY = "every block"


@dataclass(frozen=True)
class Bug:
    """A planted bug.

    name: of the method or class that is wrong. says: what is wrong, in its own words. blocks: where it is planted, as
    "Linear", or "MultiHeadAttention, dot_product". owner: the right class or function, as npbert.layers.linear.Linear.
    method: what it replaces there, "" for all. source, wrong: where it stands. right: what it replaces, if that is in
    the same file.
    """

    name: str
    says: str
    blocks: tuple[str, ...]
    owner: str
    method: str
    source: Source
    wrong: ast.AST
    right: str = ""


def read_bugs(root: Path, definitions: Definitions) -> list[Bug]:
    """All bugs of root/tests/planted, in the order of its files; none where there is no such folder."""
    folder = root / "tests" / "planted"
    paths = sorted(path for path in folder.glob("*.py") if path.stem not in ("__init__", "checks"))
    files = [Source(f"tests/planted/{path.name}", read_source(path)) for path in paths]
    found: dict[tuple[str, str, str], Bug] = {}
    together = Definitions(files, definitions)
    for file in files:
        for bug in _in_file(file, together):
            key = bug.name, bug.owner, bug.method
            known = found.get(key)
            found[key] = replace(known, blocks=known.blocks + bug.blocks) if known else bug
    return list(found.values())


def _in_file(file: Source, definitions: Definitions) -> Iterator[Bug]:
    """Of each function or class that is decorated with plant or fails, or handed to them."""
    short = {
        target.id: node.value
        for node in file.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ClassDef | Function):
            for decorator in node.decorator_list:
                call = short.get(decorator.id) if isinstance(decorator, ast.Name) else decorator
                if isinstance(call, ast.Call):
                    yield from _planted(file, definitions, call, file, node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and len(node.value.args) == 1:
            call, given = node.value.func, node.value.args[0]
            wrong = given.func if isinstance(given, ast.Call) else given
            found = definitions.find(file.module, ast.unparse(wrong))
            if isinstance(call, ast.Call) and found:
                yield from _planted(file, definitions, call, found.source, found.node)


def _planted(file: Source, definitions: Definitions, call: ast.Call, where: Source, wrong: ast.AST) -> Iterator[Bug]:
    options = {word.arg: word.value for word in call.keywords}
    kind = getattr(call.func, "id", "")
    if kind not in ("plant", "fails") or _text(options.get("says")) == "right":
        return
    name, says = str(getattr(wrong, "name", "")), _says(wrong)
    if kind == "fails":
        right = definitions.find(file.module, ast.unparse(call.args[1]))
        if right is None or right.source is file:
            return
        method = _text(options.get("method"))
        yield Bug(name, says, (), f"{right.source.module}.{right.name}", method, where, wrong)
        return
    method = _text(options.get("method")) or "backward"
    twin = definitions.find(file.module, ast.unparse(options["right"])) if "right" in options else None
    for argument in call.args:
        block, part = _text(argument), _text(options.get("part"))
        if not block:  # in a loop over them all
            yield Bug(name, says, (EVERY,), "npbert.core.layer.Layer", "", where, wrong)
        elif block in CATALOGUE:
            right_class = _class_of(block, part)
            place = f"{block}, {part}" if part else block
            owner = f"{right_class.__module__}.{right_class.__qualname__}"
            whole = isinstance(wrong, ast.ClassDef)
            right_text = _method_text(definitions, twin, method) if twin else ""
            yield Bug(name, says, (place,), owner, "" if whole else method, where, wrong, right_text)


def _text(node: ast.AST | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _class_of(block: str, part: str) -> type[Any]:
    """The class that a bug takes the place of: of the block, or of a part of it."""
    if not part:
        return CATALOGUE[block].layer_class
    layer, _, _ = CATALOGUE[block].make()
    return type(operator.attrgetter(part)(layer))


def _method_text(definitions: Definitions, owner: Definition, method: str) -> str:
    found = definitions.member(owner, method)
    return found.source.part(found.node) if found else ""


def _says(wrong: ast.AST) -> str:
    """The docstring; of a wrong answer to an exercise, the first thing that its decorator is told."""
    if not isinstance(wrong, ast.ClassDef | Function):
        return ""
    for decorator in wrong.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args and _text(decorator.args[0]) not in ("", *CATALOGUE):
            return _text(decorator.args[0])
    return " ".join((ast.get_docstring(wrong) or "").split())
