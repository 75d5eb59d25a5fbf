"""Finding: an explanation of a wrong gradient, as data. describe: words it."""

import ast
import textwrap
from dataclasses import dataclass
from typing import Any

from npbert.gradcheck.explain.code import Code, replaced, text_of
from npbert.gradcheck.explain.edits import Edit
from npbert.gradcheck.explain.places import WRITTEN, CodePlace
from npbert.gradcheck.explain.reasons import KINDS

_COMPOUND = (ast.For, ast.While, ast.If, ast.With)


def d(name: str) -> str:
    """Return the gradient's name, such as dweight for weight."""
    return f"d{name}" if name.isidentifier() else f"the gradient of {name}"


@dataclass(frozen=True)
class Finding:
    """A mistake in the author's code, or a fact about the wrong numbers.

    kind: see reasons.py   subject: the wrong gradients, such as "dW, db"   place: the statement, as written
    found: the wrong piece of it   wanted: the right piece   cause: the reason, in one or two sentences
    line: in the author's file, or 0; file: its name, if there may be several
    marked: the first wrong numbers, if `found` and `wanted` are pieces of a right backward, not of the place
    column: the start of `marked` or `found` in the place
    """

    kind: str
    subject: str
    place: str = ""
    found: str = ""
    wanted: str = ""
    cause: str = ""
    line: int = 0
    marked: str = ""
    file: str = ""
    column: int = 0

    @property
    def is_of_right_code(self) -> bool:
        """True if `found` and `wanted` are pieces of a right backward, not of the author's."""
        return bool(self.marked) or not self.line


def describe(finding: Finding, *, edit: bool = False) -> str:
    """Return the line with the place marked, the kind and the cause; with `edit`, also the change that makes it
    right."""
    subject, is_ = finding.subject, "are" if "," in finding.subject else "is"
    line = f"{finding.line} of {finding.file}" if finding.file else f"{finding.line}"
    where = f"; line {line} ({finding.kind}):" if finding.line else f" ({finding.kind})."
    parts = [f"{subject} {is_} wrong{where}", _marked(finding) if finding.line else "", finding.cause]
    return "\n".join(filter(None, [*parts, describe_edit(finding) if edit else ""]))


def describe_edit(finding: Finding, *, of_several: bool = False) -> str:
    """Return the edit that makes it right, or "" if unknown. of_several: other edits are shown with it."""
    subject, is_ = finding.subject, "are" if "," in finding.subject else "is"
    if not finding.is_of_right_code:
        change = "these changes" if of_several else "this change"
        return f"With {change} {subject} {is_} right:\n{_changed(finding)}"
    given = finding.found or "nothing in its place"
    is_known = finding.found or finding.wanted
    return f"Your numbers are those of the right backward with {given} instead of {finding.wanted}." * bool(is_known)


def describe_place(finding: Finding) -> str:
    """Return the place of the first wrong numbers, for a finding without a reason."""
    first = f"Look at line {finding.line} first. From there on, the numbers are not those of a right backward."
    return f"{first}\n{_marked(finding)}"


def _marked(finding: Finding) -> str:
    """Return each line of the place with its number, and below it a mark if the piece is less than the line."""
    piece = finding.marked or finding.found
    rows = [f"{number:>6}:  {line}" for number, line in enumerate(finding.place.splitlines(), finding.line)]
    first = finding.place.partition("\n")[0]
    if first.startswith(piece, finding.column) and piece.strip() != first.strip():
        rows.insert(1, " " * (len(rows[0]) - len(first) + finding.column) + "^" * len(piece))
    return "\n".join(rows)


def _changed(finding: Finding) -> str:
    """Return the place after the edit."""
    if not finding.wanted:
        return f"        (without this line)  {finding.found}"
    return textwrap.indent(edited(finding), " " * 9)


def edited(finding: Finding) -> str:
    """Return the place after the edit."""
    end = finding.column + len(finding.found)
    return finding.place[: finding.column] + finding.wanted + finding.place[end:]


def finding_of(edit: Edit, code: Code, subject: str) -> Finding:
    """Return the finding of an edit, in terms of the author's code."""
    cause = KINDS[edit.kind].cause
    if not isinstance(edit.old, ast.expr):
        place = _statement(edit.old, code)
        wanted = "\n".join(map(text_of, edit.new)) if isinstance(edit.new, list) else ""
        return Finding(edit.kind, subject, place, place, wanted, cause, edit.line)
    if len(edit.changes) > 1:
        return _of_several(edit, code, subject)
    holders, (place, found, column) = _down_to(edit.old, code), _standing(edit.old, code)
    wanted = text_of(replaced(edit.old, edit.changes))
    if place[column:].startswith(found):
        is_bracketed = f"({wanted})" in text_of(replaced(holders[-1], edit.changes)) and f"({found})" not in place
        wanted = f"({wanted})" if is_bracketed and isinstance(holders[-1], ast.expr) else wanted
        return Finding(edit.kind, subject, place, found, wanted, cause, edit.line, column=column)
    return Finding(edit.kind, subject, place, place, _header(replaced(holders[0], edit.changes)), cause, edit.line)


def _of_several(edit: Edit, code: Code, subject: str) -> Finding:
    """Return the finding of an edit in several places: all statements from the first to the last."""
    simple = [node for node in ast.walk(code.entry) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    changed = [each for each in simple if any(id(node) in edit.changes for node in ast.walk(each))]
    between = simple[simple.index(changed[0]) : simple.index(changed[-1]) + 1]
    place, wanted = ("\n".join(text_of(replaced(each, changes)) for each in between) for changes in ({}, edit.changes))
    return Finding(edit.kind, subject, place, place, wanted, KINDS[edit.kind].cause, changed[0].lineno)


def where(place: CodePlace, code: Code) -> dict[str, Any]:
    """Return line, place, marked and column of a finding, for a place in the author's file."""
    is_written = place.role == WRITTEN
    node: Any = getattr(place.statement, "value", place.expr) if is_written else place.expr
    text, marked, column = _standing(node, code)
    return {"line": node.lineno, "place": text, "marked": text if is_written else marked, "column": max(0, column)}


def _standing(node: ast.expr, code: Code) -> tuple[str, str, int]:
    """Return the lines of an expression, the expression, and its start in them."""
    if code.is_original(node):
        return code.standing(node)
    statement, piece = _header(_down_to(node, code)[0]), text_of(node)
    return statement, piece, max(0, statement.find(piece))


def _down_to(node: ast.AST, code: Code) -> list[ast.AST]:
    """Return the nodes from its statement down to its parent."""
    around = [each for each in ast.walk(code.tree) if any(inner is node for inner in ast.walk(each))]
    return around[max(n for n, each in enumerate(around) if isinstance(each, ast.stmt)) : -1]


def _statement(statement: ast.AST, code: Code) -> str:
    is_simple = code.is_original(statement) and not isinstance(statement, _COMPOUND)
    return code.standing(statement)[0] if is_simple else _header(statement)


def _header(statement: ast.AST) -> str:
    """Return the statement, or the first line of a loop or branch."""
    text = text_of(statement)
    return text.splitlines()[0] if isinstance(statement, _COMPOUND) else text
