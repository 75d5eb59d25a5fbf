"""Finding: one explanation of a wrong gradient, as data. shown: the same in plain English."""

from __future__ import annotations

import ast
import itertools
import textwrap
from dataclasses import dataclass

from npbert.gradcheck.explain.code import Code, replaced, text_of
from npbert.gradcheck.explain.edits import Edit
from npbert.gradcheck.explain.reasons import KINDS

_COMPOUND = (ast.For, ast.While, ast.If, ast.With)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong in the author's code, or that is true of the wrong numbers.

    kind: a short name: `axis`, `drop factor`, `transpose`; see reasons.py.   subject: what is wrong by it: "dW, db"
    place: the statement concerned, as it stands there.   found: the piece of it that is concerned
    wanted: what would stand in the place of `found`.   cause: why, in one or two sentences.
    line: in the author's file, 0 where it is not known.
    """

    kind: str
    subject: str
    place: str
    found: str
    wanted: str
    cause: str
    line: int = 0


def shown(finding: Finding, *, edit: bool = False) -> str:
    """The line with the place marked, the kind and the cause; with `edit`, what would make it right, too."""
    subject, is_ = finding.subject, "are" if "," in finding.subject else "is"
    if not finding.line:
        given = finding.found or "nothing in its place"
        seems = f"\nYour numbers are those of the right backward with {given}, where {finding.wanted} stands."
        return f"{subject} {is_} wrong ({finding.kind}).\n{finding.cause}{seems if edit else ''}"
    parts = [f"{subject} {is_} wrong; line {finding.line} ({finding.kind}):", _marked(finding), finding.cause]
    if edit:
        parts.append(f"With this change {subject} {is_} right:\n{_changed(finding)}")
    return "\n".join(parts)


def _marked(finding: Finding) -> str:
    """Each line of the place with its number, and below it what is concerned, where that is less than the line."""
    lines = finding.place.splitlines()
    rows = []
    for number, line in enumerate(lines, finding.line):
        head = f"{number:>6}:  "
        rows.append(head + line)
        at = line.find(finding.found)
        if at >= 0 and finding.found.strip() != line.strip():
            rows.append(" " * (len(head) + at) + "^" * len(finding.found))
    return "\n".join(rows)


def _changed(finding: Finding) -> str:
    """The place with the edit made."""
    if not finding.wanted:
        return f"        (without this line)  {finding.found}"
    after = finding.place.replace(finding.found, finding.wanted, 1)
    return textwrap.indent(after, " " * 9)


def finding_of(edit: Edit, code: Code, subject: str) -> Finding:
    """The edit told in the author's own words: what it says of the code as it stands."""
    if isinstance(edit.old, ast.expr):
        place, found, wanted = _of_expression(edit, code)
    else:
        place = found = _header(edit.old) if isinstance(edit.old, _COMPOUND) else textwrap.dedent(code.text(edit.old))
        wanted = "\n".join(map(text_of, edit.new)) if isinstance(edit.new, list) else edit.says
    return Finding(edit.kind, subject, place, found, edit.says or wanted, KINDS[edit.kind].cause, edit.line)


def _of_expression(edit: Edit, code: Code) -> tuple[str, str, str]:
    """(place, found, wanted), where `found` is the smallest piece that stands in the place just once."""
    road = _road(code.tree, edit.old)
    place = code.lines(edit.old) or _header(road[0])
    for holder, node in reversed(list(itertools.pairwise(road))):
        found = code.text(node)
        if place.count(found) == 1:
            wanted = text_of(replaced(node, edit.changes))
            is_bracketed = f"({wanted})" in text_of(replaced(holder, edit.changes)) and f"({found})" not in place
            return (place, found, f"({wanted})" if is_bracketed and isinstance(holder, ast.expr) else wanted)
    return place, place, _header(replaced(road[0], edit.changes))


def _road(tree: ast.AST, node: ast.AST) -> list[ast.AST]:
    """The nodes from the statement down to the node."""
    for child in ast.iter_child_nodes(tree):
        road = [child] if child is node else _road(child, node)
        if road:
            return road if child is node or isinstance(road[0], ast.stmt) else [child, *road]
    return []


def _header(statement: ast.AST) -> str:
    """The statement, or the first line of a loop or branch."""
    text = text_of(statement)
    return text.splitlines()[0] if isinstance(statement, _COMPOUND) else text
