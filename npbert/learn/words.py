"""What is printed: verdicts, hints, and where to read on."""

from __future__ import annotations

import itertools
import re
import shutil
import textwrap

from npbert.gradcheck.explain import shown
from npbert.learn.exercise import Exercise
from npbert.learn.verdict import NOT_BEGUN, RIGHT, WRONG, Verdict

WIDEST = 100
MOST_LINES = 10


def answer(exercise: Exercise, verdict: Verdict, option: str = "", *, mends: bool = False) -> str:
    """All that is to be said of one exercise. option: what the next command needs, as " --folder mine". mends: with the
    change that makes it right."""
    parts = [line(exercise, verdict)]
    if verdict.status == WRONG:
        several = "1. " if re.search(r"^2\. ", verdict.because, re.MULTILINE) else ""
        parts += [indented(several + verdict.says)] + ([indented(verdict.because)] if verdict.because else [])
    if mends and verdict.findings:
        parts.append(edits(exercise, verdict))
    if verdict.printed.strip():
        lines = verdict.printed.rstrip().split("\n")
        more = len(lines) > MOST_LINES or verdict.printed.rstrip().endswith("…")
        says = "Your code printed (it is run several times; this is the beginning):" if more else "Your code printed:"
        parts.append("\n".join([indented(says), *(f"    | {line}" for line in lines[:MOST_LINES])]))
    if verdict.status == WRONG:
        read = f"docs/{exercise.chapter.file}"
        parts.append(f"  To read: {read}\n  A hint:  npbert learn hint {exercise.code}{option}")
    if verdict.status == NOT_BEGUN:
        parts.append(indented(f"Open {exercise.file_name}: it says what to do. To read: {exercise.chapter}."))
    if verdict.status == RIGHT:
        parts += [indented(verdict.because)] if verdict.because else []
        parts.append(indented(f"npbert learn show {exercise.code}{option} lays yours beside the library's."))
    return "\n\n".join(parts)


def edits(exercise: Exercise, verdict: Verdict) -> str:
    """What would make the answer right, where that was found."""
    if verdict.status != WRONG:
        return line(exercise, verdict)
    if not verdict.findings:
        return indented("No small change was found that makes it right. The third hint says what the formula is.")
    return "\n\n".join(indented(shown(finding, edit=True)) for finding in verdict.findings)


def line(exercise: Exercise, verdict: Verdict) -> str:
    """One line: 07 LayerNorm: right"""
    return f"{exercise.code} {exercise.title}: {verdict.status}"


def summary(exercise: Exercise, verdict: Verdict, option: str = "") -> str:
    """One line that says where to learn more."""
    more = f" (npbert learn check {exercise.code}{option} says why)" if verdict.status == WRONG else ""
    return f"{line(exercise, verdict)}{more}"


def hint(exercise: Exercise, number: int, part: str = "", option: str = "") -> str:
    """The hint of this number, 1 to 3, and how to get the next one. part: for which part it is, if it is known."""
    hints = exercise.hints_of_parts.get(part, exercise.hints)
    text = indented(hints[number - 1])
    more = f"npbert learn hint {exercise.code} {number + 1}{option} says more." if number < len(hints) else ""
    change = f"npbert learn hint {exercise.code} 4{option} shows what would make your answer right."
    last = f"This was the last hint. To read: {exercise.chapter}. {change}"
    of_part = f", {part}" if exercise.hints_of_parts and part else ""
    head = f"{exercise.code} {exercise.title}{of_part}, hint {number} of {len(hints)}"
    return f"{head}\n\n{text}\n\n{indented(more or last)}"


def indented(text: str, by: str = "  ") -> str:
    """As wide as the terminal, indented. Lines that are indented already stay as they are."""
    width = min(shutil.get_terminal_size().columns, WIDEST) - len(by)
    return textwrap.indent("\n\n".join(_filled(part, width) for part in text.split("\n\n")), by)


def _filled(paragraph: str, width: int) -> str:
    """Runs of lines that are not indented, each filled; all others as they are."""
    lines: list[str] = []
    for is_shown, run in itertools.groupby(paragraph.split("\n"), lambda line: line.startswith(" ")):
        these = list(run)
        lines += (
            these if is_shown else textwrap.wrap(" ".join(these), width, break_on_hyphens=False, break_long_words=False)
        )
    return "\n".join(lines)
