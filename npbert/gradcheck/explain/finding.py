"""Finding: one explanation of a wrong gradient, as data. describe: the same in plain English."""

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
    """The gradient's name: dweight for weight."""
    return f"d{name}" if name.isidentifier() else f"the gradient of {name}"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong in the author's code, or that is true of the wrong numbers.

    kind: see reasons.py.   subject: what is wrong by it: "dW, db".   place: the statement concerned, as it stands there
    found: the piece of it that is concerned.   wanted: what would stand there.   cause: why, in one or two sentences
    line: in the author's file, 0 where it is not known; file: its name, where there may be several.
    marked: where the numbers begin to be wrong, if `found` and `wanted` are pieces of a right backward, and not of the
    place; column: where in the place `marked` or `found` begins
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
        """True if `found` and `wanted` are told of a right backward, and not of the author's."""
        return bool(self.marked) or not self.line


def describe(finding: Finding, *, edit: bool = False) -> str:
    """The line with the place marked, the kind and the cause; with `edit`, what would make it right, too."""
    subject, is_ = finding.subject, "are" if "," in finding.subject else "is"
    line = f"{finding.line} of {finding.file}" if finding.file else f"{finding.line}"
    where = f"; line {line} ({finding.kind}):" if finding.line else f" ({finding.kind})."
    parts = [f"{subject} {is_} wrong{where}", _marked(finding) if finding.line else "", finding.cause]
    return "\n".join(filter(None, [*parts, describe_edit(finding) if edit else ""]))


def describe_edit(finding: Finding, *, of_several: bool = False) -> str:
    """The edit that would make it right, in words; "" if it is not known. of_several: others are shown beside it."""
    subject, is_ = finding.subject, "are" if "," in finding.subject else "is"
    if not finding.is_of_right_code:
        change = "these changes" if of_several else "this change"
        return f"With {change} {subject} {is_} right:\n{_changed(finding)}"
    given = finding.found or "nothing in its place"
    is_known = finding.found or finding.wanted
    return f"Your numbers are those of the right backward with {given} instead of {finding.wanted}." * bool(is_known)


def describe_place(finding: Finding) -> str:
    """Where the numbers begin to be wrong, of a finding that cannot say why."""
    first = f"Look at line {finding.line} first. From there on, the numbers are not those of a right backward."
    return f"{first}\n{_marked(finding)}"


def _marked(finding: Finding) -> str:
    """Each line of the place with its number, and below it what is concerned, where that is less than the line."""
    piece = finding.marked or finding.found
    rows = [f"{number:>6}:  {line}" for number, line in enumerate(finding.place.splitlines(), finding.line)]
    first = finding.place.partition("\n")[0]
    if first.startswith(piece, finding.column) and piece.strip() != first.strip():
        rows.insert(1, " " * (len(rows[0]) - len(first) + finding.column) + "^" * len(piece))
    return "\n".join(rows)


def _changed(finding: Finding) -> str:
    """The place with the edit made."""
    if not finding.wanted:
        return f"        (without this line)  {finding.found}"
    return textwrap.indent(edited(finding), " " * 9)


def edited(finding: Finding) -> str:
    """The place with the edit made."""
    end = finding.column + len(finding.found)
    return finding.place[: finding.column] + finding.wanted + finding.place[end:]


def finding_of(edit: Edit, code: Code, subject: str) -> Finding:
    """The edit told in the author's own words: what it says of the code as it stands."""
    cause = KINDS[edit.kind].cause
    if not isinstance(edit.old, ast.expr):
        place = _statement(edit.old, code)
        wanted = "\n".join(map(text_of, edit.new)) if isinstance(edit.new, list) else ""
        return Finding(edit.kind, subject, place, place, wanted, cause, edit.line)
    holders, (place, found, column) = _down_to(edit.old, code), _standing(edit.old, code)
    wanted = text_of(replaced(edit.old, edit.changes))
    if place[column:].startswith(found):
        is_bracketed = f"({wanted})" in text_of(replaced(holders[-1], edit.changes)) and f"({found})" not in place
        wanted = f"({wanted})" if is_bracketed and isinstance(holders[-1], ast.expr) else wanted
        return Finding(edit.kind, subject, place, found, wanted, cause, edit.line, column=column)
    return Finding(edit.kind, subject, place, place, _header(replaced(holders[0], edit.changes)), cause, edit.line)


def where(place: CodePlace, code: Code) -> dict[str, Any]:
    """line, place, marked and column of a finding: where the place is in the author's file."""
    is_written = place.role == WRITTEN
    node: Any = getattr(place.statement, "value", place.expr) if is_written else place.expr
    text, marked, column = _standing(node, code)
    return {"line": node.lineno, "place": text, "marked": text if is_written else marked, "column": max(0, column)}


def _standing(node: ast.expr, code: Code) -> tuple[str, str, int]:
    """The lines that an expression stands on, the expression, and where in them it begins."""
    if code.is_original(node):
        return code.standing(node)
    statement, piece = _header(_down_to(node, code)[0]), text_of(node)
    return statement, piece, max(0, statement.find(piece))


def _down_to(node: ast.AST, code: Code) -> list[ast.AST]:
    """The nodes from its statement down to the one that it hangs on."""
    around = [each for each in ast.walk(code.tree) if any(inner is node for inner in ast.walk(each))]
    return around[max(n for n, each in enumerate(around) if isinstance(each, ast.stmt)) : -1]


def _statement(statement: ast.AST, code: Code) -> str:
    is_simple = code.is_original(statement) and not isinstance(statement, _COMPOUND)
    return code.standing(statement)[0] if is_simple else _header(statement)


def _header(statement: ast.AST) -> str:
    """The statement, or the first line of a loop or branch."""
    text = text_of(statement)
    return text.splitlines()[0] if isinstance(statement, _COMPOUND) else text
