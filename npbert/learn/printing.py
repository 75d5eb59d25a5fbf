"""The texts that `npbert learn` prints: verdicts, hints, where to read on, and both answers, one above the other."""

import inspect
import itertools
import re
import shutil
import textwrap
from pathlib import Path

from npbert.gradcheck.explain import describe, describe_edit
from npbert.io.files import read_text
from npbert.learn.exception_help import IN_NUMPY
from npbert.learn.exercise import Exercise
from npbert.learn.source import definitions, with_helpers
from npbert.learn.verdict import NOT_BEGUN, RIGHT, WRONG, Verdict

WIDEST = 100
MOST_LINES = 10

PROGRAM = "npbert learn"
"""What the commands of a terminal begin with."""


def answer(
    exercise: Exercise,
    verdict: Verdict,
    option: str = "",
    *,
    mends: bool = False,
    program: str = PROGRAM,
    path: Path | None = None,
) -> str:
    """All that is to be said of one exercise.

    option: what the next command needs, as " --folder mine". mends: with the change that makes it right. program: what
    the commands begin with. path: of the learner's file.
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
        begin = f"Open {path or exercise.file_name}: it" if program == PROGRAM else f"{program} {exercise.code}"
        parts.append(indented(f"{begin} says what to do. To read: {exercise.chapter}."))
    if verdict.status == RIGHT:
        show = f"{program} show {exercise.code}{option} lays yours beside the library's."
        parts += map(indented, filter(None, [verdict.because, show]))
    return "\n\n".join(parts)


def _printed(text: str) -> str:
    """The beginning of what the learner's code printed."""
    lines = text.split("\n")
    is_cut = len(lines) > MOST_LINES or text.endswith("…")
    says = "Your code printed (it is run several times; this is the beginning):" if is_cut else "Your code printed:"
    return "\n".join([indented(says), *(f"    | {line}" for line in lines[:MOST_LINES])])


def _commands(exercise: Exercise, option: str, program: str, *, is_mended: bool) -> str:
    """What to do next, a line each."""
    lines = [f"To read:     docs/{exercise.chapter.file}", f"A hint:      {program} hint {exercise.code}{option}"]
    lines += [f"The change:  {program} hint {exercise.code} 4{option}"] if is_mended else []
    return "\n".join(f"  {line}" for line in lines)


def edits(exercise: Exercise, verdict: Verdict) -> str:
    """The changes that would make the answer right, where they were found."""
    if verdict.status != WRONG:
        return line(exercise, verdict)
    if not verdict.findings:
        return indented("No small change was found that makes it right. The third hint says what the formula is.")
    return "\n\n".join(indented(describe(finding, edit=True)) for finding in verdict.findings)


def line(exercise: Exercise, verdict: Verdict) -> str:
    """One line: 07 LayerNorm: right"""
    return f"{exercise.code} {exercise.title}: {verdict.status}"


def summary(exercise: Exercise, verdict: Verdict, option: str = "") -> str:
    """One line that says where to learn more."""
    more = f" (npbert learn check {exercise.code}{option} says why)" if verdict.status == WRONG else ""
    return f"{line(exercise, verdict)}{more}"


def hint(exercise: Exercise, number: int, part: str = "", option: str = "", *, program: str = PROGRAM) -> str:
    """The hint of this number, 1 to 3, and how to get the next one. part: for which part it is, if it is known."""
    hints = exercise.hints_for(part)
    text = indented(hints[number - 1])
    more = f"{program} hint {exercise.code} {number + 1}{option} says more." if number < len(hints) else ""
    change = f"{program} hint {exercise.code} 4{option} shows what would make your answer right."
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


def show(exercise: Exercise, path: Path, place: str = "") -> str:
    """What the learner wrote, and below it what the library has, with its derivation and the functions of its file that
    it calls. place: what the learner's file is called, if not by its path."""
    if exercise.shown is not None:
        return exercise.shown()
    text, shown = read_text(path), []
    for part in exercise.parts:
        node, module = definitions(text).get(part.written), inspect.getmodule(part.right)
        own = "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno]) if node else "(elsewhere)"
        shown.append(_titled(f"{part.written}, yours ({place or path})", own))
        where = module.__name__.replace(".", "/") if module else part.name
        library = "\n\n".join(with_helpers(inspect.getsource(part.right), module))
        shown.append(_titled(f"{part.name}, the library's ({where}.py)", library))
        called = [plain for name, plain in IN_NUMPY.items() if re.search(rf"\b{name}\(", library)]
        shown += [f"In plain NumPy: {'; '.join(called)}."] if called else []
    return "\n\n".join(shown)


def _titled(title: str, source: str) -> str:
    return f"{title}\n{'─' * len(title)}\n{textwrap.dedent(source).strip()}"
