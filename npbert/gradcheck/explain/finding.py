"""Finding: one explanation of a wrong gradient, as data. describe: the same in plain English."""

import ast
import itertools
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
    place; column: from where on in its first line they stand
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
    return f"Your numbers are those of the right backward with {given}, where {finding.wanted} stands." * bool(is_known)


def describe_place(finding: Finding) -> str:
    """Where the numbers begin to be wrong, of a finding that cannot say why."""
    first = f"Look at line {finding.line} first. From there on, the numbers are not those of a right one."
    return f"{first}\n{_marked(finding)}"


def _marked(finding: Finding) -> str:
    """Each line of the place with its number, and below it what is concerned, where that is less than the line."""
    lines, piece = finding.place.splitlines(), finding.marked or finding.found
    rows = []
    for number, line in enumerate(lines, finding.line):
        head = f"{number:>6}:  "
        rows.append(head + line)
        at = line.find(piece, finding.column if number == finding.line else 0)
        if at >= 0 and piece.strip() != line.strip():
            rows.append(" " * (len(head) + at) + "^" * len(piece))
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
        wanted = "\n".join(map(text_of, edit.new)) if isinstance(edit.new, list) else ""
    return Finding(edit.kind, subject, place, found, wanted, KINDS[edit.kind].cause, edit.line)


def _of_expression(edit: Edit, code: Code) -> tuple[str, str, str]:
    """(place, found, wanted), where `found` is the smallest piece that stands in the place just once."""
    place, road = _standing(edit.old, code)
    for holder, node in reversed(list(itertools.pairwise(road))):
        found = code.text(node)
        if place.count(found) == 1:
            wanted = text_of(replaced(node, edit.changes))
            is_bracketed = f"({wanted})" in text_of(replaced(holder, edit.changes)) and f"({found})" not in place
            return (place, found, f"({wanted})" if is_bracketed and isinstance(holder, ast.expr) else wanted)
    return place, place, _header(replaced(road[0], edit.changes))


def where(place: CodePlace, code: Code) -> dict[str, Any]:
    """line, place, marked and column of a finding: where the place is in the author's file."""
    node: Any = getattr(place.statement, "value", place.expr) if place.role == WRITTEN else place.expr
    text, road = _standing(node, code)
    column = -1 if place.role == WRITTEN else code.column(node)
    pieces = [text] if place.role == WRITTEN else map(code.text, reversed(road))
    marked = next((piece for piece in pieces if _stands_at(column, piece, text)), text)
    return {"line": node.lineno, "place": text, "marked": marked, "column": max(0, column)}


def _stands_at(column: int, piece: str, text: str) -> bool:
    """True if there is no other place in the text that may be meant by the piece."""
    return text.startswith(piece, column) if column >= 0 else text.count(piece) == 1


def _standing(node: ast.AST, code: Code) -> tuple[str, list[ast.AST]]:
    """The lines that an expression stands on, and the nodes from its statement down to it."""
    around = [each for each in ast.walk(code.tree) if any(inner is node for inner in ast.walk(each))]
    road = around[max(n for n, each in enumerate(around) if isinstance(each, ast.stmt)) :]
    return code.lines(node) or _header(road[0]), road


def _header(statement: ast.AST) -> str:
    """The statement, or the first line of a loop or branch."""
    text = text_of(statement)
    return text.splitlines()[0] if isinstance(statement, _COMPOUND) else text
