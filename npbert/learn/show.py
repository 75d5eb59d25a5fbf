"""show: a learner's answer and the library's, one above the other."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Collection
from operator import attrgetter
from pathlib import Path
from typing import Any

from npbert.files import read_text
from npbert.learn.exercise import Exercise
from npbert.learn.stuck import IN_NUMPY


def show(exercise: Exercise, path: Path) -> str:
    """Of each blank, what the learner wrote, and what stands in the library with its derivation, and below it the
    functions of the library that it calls."""
    if exercise.shown is not None:
        return exercise.shown()
    text = read_text(path)
    parts = {part.name: part.right for part in exercise.parts}
    shown = []
    for blank in exercise.blanks:
        name, _, method = blank.partition(".")
        right = attrgetter(method)(parts[name]) if method else parts.get(name)
        shown.append(_titled(f"{blank}, yours ({path})", _source_of(blank, text)))
        if right is not None:
            shown.append(_titled(f"{blank}, the library's ({_place(right)})", inspect.getsource(right)))
            known = _names(exercise.source())
            helpers = called_by(right, parts[name] if method else None, known)
            shown_names = {each.__name__ for each in helpers}
            for each in helpers:
                title = f"{each.__qualname__}, which it calls ({_place(each)})"
                shown.append(_titled(title, inspect.getsource(each)))
            used = [node.id for each in (right, *helpers) for node in _uses(each) if isinstance(node, ast.Name)]
            plain = [IN_NUMPY[name] for name in dict.fromkeys(used) if name in IN_NUMPY and name not in shown_names]
            shown += [f"In plain NumPy: {'; '.join(plain)}."] if plain else []
    return "\n\n".join(shown)


def called_by(function: Any, owner: Any, known: Collection[str]) -> list[Any]:
    """The functions of the library that it uses by a name of their own, or as `self.name`, and what these use in turn.

    owner: the class that it is a method of, if it is one. known: names that the learner's file has already. What comes
    from npbert.core is no arithmetic, and what comes from npbert.compute is said in a line (IN_NUMPY).
    """
    found: list[Any] = []
    waiting = [function]
    while waiting:
        this = waiting.pop(0)
        for node in _uses(this):
            used = this.__globals__.get(node.id) if isinstance(node, ast.Name) else getattr(owner, node.attr, None)
            if _is_shown(used, known) and used is not function and used not in found:
                found.append(used)
                waiting.append(used)
    return found


def _uses(function: Any) -> list[ast.Name | ast.Attribute]:
    """The names in a function, and the attributes of `self`."""
    nodes = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function))))
    return [
        node
        for node in nodes
        if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self")
    ]


def _is_shown(used: Any, known: Collection[str]) -> bool:
    if not inspect.isfunction(used) or used.__name__ in known:
        return False
    room = used.__module__.split(".")
    return room[0] == "npbert" and room[1] not in ("core", "compute")


def _names(source: str) -> set[str]:
    """What is defined in a file, or imported into it."""
    nodes = list(ast.walk(ast.parse(source)))
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return defined | {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


def _place(thing: Any) -> str:
    where = inspect.getmodule(thing)
    return where.__name__.replace(".", "/") + ".py" if where else "the library"


def _titled(title: str, source: str) -> str:
    return f"{title}\n{'─' * len(title)}\n{textwrap.dedent(source).strip()}"


def _source_of(blank: str, text: str) -> str:
    """The function, method or value of this dotted name, as it was written."""
    body = ast.parse(text).body
    *owners, name = blank.split(".")
    for owner in owners:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
    for node in body:
        names = [node.name] if isinstance(node, ast.FunctionDef) else []
        names += [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]
        if name in names:
            return "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno])
    return "(elsewhere)"
