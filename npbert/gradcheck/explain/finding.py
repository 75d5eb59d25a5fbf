"""Finding: an explanation of a wrong gradient, as data. describe, describe_all: word it."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from npbert.gradcheck.explain.code import Code, tidied
from npbert.gradcheck.explain.edits import Edit
from npbert.gradcheck.explain.grammar import KINDS
from npbert.gradcheck.explain.places import CodePlace
from npbert.gradcheck.explain.trial import RAISES

UNKNOWN = "unknown"
"""The kind of a finding without an edit."""


def d(name: str) -> str:
    """Return the gradient's name, such as dweight for weight."""
    return f"d{name}" if name.isidentifier() else f"the gradient of {name}"


@dataclass(frozen=True)
class Finding:
    """A mistake in the author's code, or a fact about the wrong numbers.

    kind: see grammar.py   subject: the wrong gradients, such as "dW, db"   place: the statement, as written
    found: the wrong piece of it, or the first wrong numbers, if no edit is known   wanted: the right piece
    cause: the reason, in one or two sentences
    line: in the author's file, or 0; file: its name, if there may be several
    column: the start of `found` in the place
    """

    kind: str
    subject: str
    place: str = ""
    found: str = ""
    wanted: str = ""
    cause: str = ""
    line: int = 0
    file: str = ""
    column: int = 0

    @property
    def names(self) -> set[str]:
        """The names of the wrong gradients."""
        return set(self.subject.split(", "))

    @property
    def is_edit(self) -> bool:
        """True if `wanted` in place of `found` makes the subject right."""
        return bool(self.line) and self.kind != UNKNOWN


def describe_all(findings: Sequence[Finding]) -> list[str]:
    """Return each finding in words, with the change that makes it right, alone or with those of the same subject."""
    subjects, told = [each.subject for each in findings], []
    for each in findings:
        change = describe_edit(each, of_several=subjects.count(each.subject) > 1) if each.is_edit else ""
        told.append(f"{describe(each)}\n{change}".rstrip())
    return told


def describe(finding: Finding) -> str:
    """Return the line with the place marked, the kind and the cause. Without an edit, only the cause and the place, if
    one is known."""
    if not finding.is_edit:
        told = f"In {finding.file}, {finding.cause[:1].lower()}{finding.cause[1:]}" if finding.file else finding.cause
        return f"{told}\n{_marked(finding)}".rstrip()
    line = f"{finding.line} of {finding.file}" if finding.file else f"{finding.line}"
    return f"{_are(finding)} wrong; line {line} ({finding.kind}):\n{_marked(finding)}\n{finding.cause}"


def describe_edit(finding: Finding, *, of_several: bool = False) -> str:
    """Return the edit that makes it right. of_several: other edits are shown with it."""
    change = "these changes" if of_several else "this change"
    after = textwrap.indent(edited(finding), " " * 9) or f"        (without this line)  {finding.found}"
    result = "the code runs" if finding.subject == RAISES else f"{_are(finding)} right"
    return f"With {change} {result}:\n{after}"


def _are(finding: Finding) -> str:
    is_plural = "," in finding.subject or finding.subject.startswith("the gradients")
    return f"{finding.subject} {'are' if is_plural else 'is'}"


def _marked(finding: Finding) -> str:
    """Return each line of the place with its number, and below it a mark if the piece is less than the line."""
    piece = finding.found
    rows = [f"{number:>6}:  {line}" for number, line in enumerate(finding.place.splitlines(), finding.line)]
    first = finding.place.partition("\n")[0]
    if first.startswith(piece, finding.column) and piece.strip() != first.strip():
        rows.insert(1, " " * (len(rows[0]) - len(first) + finding.column) + "^" * len(piece))
    return "\n".join(rows)


def edited(finding: Finding) -> str:
    """Return the place after the edit."""
    end = finding.column + len(finding.found)
    return finding.place[: finding.column] + finding.wanted + finding.place[end:]


def finding_of(edit: Edit, subject: str) -> Finding:
    """Return the finding of an edit, in terms of the author's code."""
    (start, end), cause = edit.span, KINDS[edit.kind].cause
    place, column = edit.code.lines(start, end)
    if edit.told is None:
        return Finding(edit.kind, subject, place, edit.old, edit.new, cause, edit.line, column=column)
    told, _ = edit.code.lines(*edit.code.span(edit.told))
    wanted, _ = edit.applied.lines(start, end + len(edit.applied.text) - len(edit.code.text))
    wanted = tidied(wanted) * (edit.new != "pass")
    return Finding(edit.kind, subject, told, place, wanted, cause, edit.told.lineno)


def finding_at(place: CodePlace, code: Code, subject: str, cause: str) -> Finding:
    """Return the finding of a place to look at, without an edit."""
    node = place.statement if place.is_target else place.expr
    lines, column = code.lines(*code.span(node))
    cause = cause.format(node.lineno)
    return Finding(UNKNOWN, subject, lines, code.source(node), cause=cause, line=node.lineno, column=column)
