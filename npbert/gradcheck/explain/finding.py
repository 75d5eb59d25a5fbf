"""Finding: one explanation of a wrong gradient, as data. shown: the same in plain English."""

from __future__ import annotations

from dataclasses import dataclass


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
    return "\n".join(f"{'':9}{line}" for line in after.splitlines())
