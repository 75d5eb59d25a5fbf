"""The texts that `npbert learn` prints: verdicts, hints, what to read, and both answers."""

import itertools
import re
import shutil
import textwrap
from pathlib import Path

from npbert.gradcheck.explain import describe, describe_edit
from npbert.io.files import read_text
from npbert.learn.exercise import Exercise
from npbert.learn.verdict import NOT_BEGUN, RIGHT, WRONG, Verdict

WIDEST = 100
MOST_LINES = 10

PROGRAM = "npbert learn"
"""The beginning of its commands in a terminal."""


def answer(
    exercise: Exercise,
    verdict: Verdict,
    option: str = "",
    *,
    mends: bool = False,
    program: str = PROGRAM,
    path: Path | None = None,
) -> str:
    """Return the whole answer for one exercise.

    option: added to the next commands, such as " --folder mine"
    mends: include the change that makes the answer right
    program: the beginning of the commands
    path: the learner's file
    """
    parts = [line(exercise, verdict)]
    changes = [describe_edit(finding, of_several=len(verdict.findings) > 1) for finding in verdict.findings]
    if verdict.status == WRONG:
        first = "1. " if re.search(r"^2\. ", verdict.because, re.MULTILINE) else ""
        parts += map(indented, filter(None, [first + verdict.says, verdict.because]))
    if mends:
        parts += [indented(f"{n}. {text}" if len(changes) > 1 else text) for n, text in enumerate(changes, 1) if text]
    if verdict.printed.strip():
        parts.append(_printed(verdict.printed.rstrip()))
    if verdict.status == WRONG:
        parts.append(_commands(exercise, option, program, is_mended=not mends and any(changes)))
    if verdict.status == NOT_BEGUN:
        begin = f"Open {path or exercise.file_name}." if program == PROGRAM else f"Run {program} {exercise.code}."
        parts.append(indented(f"{begin} To read: {exercise.chapter}."))
    if verdict.status == RIGHT:
        show = f"Compare it with the library's: {program} show {exercise.code}{option}"
        parts += map(indented, filter(None, [verdict.because, show]))
    return "\n\n".join(parts)


def _printed(text: str) -> str:
    """Return the beginning of the learner's output."""
    lines = text.split("\n")
    is_cut = len(lines) > MOST_LINES or text.endswith("…")
    says = "Your code printed (it runs several times; this is the beginning):" if is_cut else "Your code printed:"
    return "\n".join([indented(says), *(f"    | {line}" for line in lines[:MOST_LINES])])


def _commands(exercise: Exercise, option: str, program: str, *, is_mended: bool) -> str:
    """Return the next commands, a line each."""
    lines = [f"To read:     docs/{exercise.chapter.file}", f"A hint:      {program} hint {exercise.code}{option}"]
    lines += [f"The change:  {program} hint {exercise.code} 4{option}"] if is_mended else []
    return "\n".join(f"  {line}" for line in lines)


def edits(exercise: Exercise, verdict: Verdict) -> str:
    """Return the changes that make the answer right, if any were found."""
    if verdict.status != WRONG:
        return line(exercise, verdict)
    if not verdict.findings:
        return indented("No small change that makes it right was found. The third hint gives the formula.")
    return "\n\n".join(indented(describe(finding, edit=True)) for finding in verdict.findings)


def line(exercise: Exercise, verdict: Verdict) -> str:
    """Return a line such as `07 LayerNorm: right`."""
    return f"{exercise.code} {exercise.title}: {verdict.status}"


def summary(exercise: Exercise, verdict: Verdict, option: str = "") -> str:
    """Return that line, with the command that explains a wrong answer."""
    more = f" (explained by npbert learn check {exercise.code}{option})" if verdict.status == WRONG else ""
    return f"{line(exercise, verdict)}{more}"


def hint(exercise: Exercise, number: int, part: str = "", option: str = "", *, program: str = PROGRAM) -> str:
    """Return hint 1, 2 or 3, and the command for the next one. part: the part it is for, if known."""
    hints = exercise.hints_for(part)
    text = indented(hints[number - 1])
    more = f"For the next hint: {program} hint {exercise.code} {number + 1}{option}" if number < len(hints) else ""
    change = f"For the change that makes your answer right: {program} hint {exercise.code} 4{option}"
    last = f"This is the last hint. To read: {exercise.chapter}. {change}"
    of_part = f", {part}" if exercise.has_hints_of_parts and part else ""
    head = f"{exercise.code} {exercise.title}{of_part}, hint {number} of {len(hints)}"
    return f"{head}\n\n{text}\n\n{indented(more or last)}"


def indented(text: str, by: str = "  ") -> str:
    """Return the text indented and filled to the terminal's width. Lines with an indent stay as they are."""
    width = min(shutil.get_terminal_size().columns, WIDEST) - len(by)
    return textwrap.indent("\n\n".join(_filled(part, width) for part in text.split("\n\n")), by)


def _filled(paragraph: str, width: int) -> str:
    """Return the lines, with runs of lines without an indent filled."""
    lines: list[str] = []
    for is_shown, run in itertools.groupby(paragraph.split("\n"), lambda line: line.startswith(" ")):
        these = list(run)
        lines += (
            these if is_shown else textwrap.wrap(" ".join(these), width, break_on_hyphens=False, break_long_words=False)
        )
    return "\n".join(lines)


def show(exercise: Exercise, path: Path, place: str = "") -> str:
    """Return the learner's answers, each with the library's below it.

    place: a name for the learner's file, instead of its path"""
    text = read_text(path)
    return "\n\n".join(block for part in exercise.parts for block in part.shown(text, place or path))
