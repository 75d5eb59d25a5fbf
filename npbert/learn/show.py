"""show: a learner's answer and the library's, one above the other."""

from __future__ import annotations

import ast
import inspect
import textwrap
from operator import attrgetter
from pathlib import Path

from npbert.files import read_text
from npbert.learn.exercise import Exercise


def show(exercise: Exercise, path: Path) -> str:
    """Of each blank, what the learner wrote, and what stands in the library with its derivation."""
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
            where = inspect.getmodule(right)
            place = where.__name__.replace(".", "/") + ".py" if where else "the library"
            shown.append(_titled(f"{blank}, the library's ({place})", inspect.getsource(right)))
    return "\n\n".join(shown)


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
