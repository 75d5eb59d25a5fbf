"""The texts that `npbert learn` prints: verdicts, hints, what to read, and the learner's code beside the library's."""

import re
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

from npbert.gradcheck.explain.finding import describe_all, describe_edit
from npbert.io import read_text
from npbert.learn.exercise import Exercise
from npbert.learn.verdict import NOT_BEGUN, RIGHT, WRONG, Verdict

WIDEST, MOST_LINES = 100, 10

COMMAND = "npbert learn {}"
"""A command in a terminal, for the words of the next one."""


def explained(
    exercise: Exercise, verdict: Verdict, command: str = COMMAND, *, mends: bool = False, path: Path | None = None
) -> str:
    """Return all that is said of a learner's answer.

    command: such as COMMAND
    mends: include the change that makes the answer right
    path: the learner's file; None for a cell
    """
    parts = [line(exercise, verdict)]
    edits = [finding for finding in verdict.findings if finding.is_edit]
    changes = [describe_edit(finding, of_several=len(edits) > 1) for finding in edits]
    parts += map(indented, filter(None, [verdict.says, verdict.because]))
    if mends:
        parts += [indented(f"{n}. {text}" if len(changes) > 1 else text) for n, text in enumerate(changes, 1)]
    if verdict.printed.strip():
        printed = verdict.printed.rstrip().split("\n")[:MOST_LINES]
        says = "Your code printed (at first, as it runs several times):"
        parts.append("\n".join([indented(says), *(f"    | {each}" for each in printed)]))
    if verdict.status == WRONG:
        hint_command = command.format(f"hint {exercise.code}")
        commands = [f"  To read:     {exercise.chapter}", f"  A hint:      {hint_command}"]
        if changes and not mends:
            change_command = command.format(f"hint {exercise.code} 4")
            commands.append(f"  The change:  {change_command}")
        parts.append("\n".join(commands))
    if verdict.status == NOT_BEGUN:
        begin = f"Open {path}." if path else f"Run {command.format(exercise.code)}."
        parts.append(indented(f"{begin} To read: {exercise.chapter}."))
    if verdict.status == RIGHT:
        parts.append(indented(f"Compare it with the library's: {command.format(f'show {exercise.code}')}"))
    return "\n\n".join(parts)


def line(exercise: Exercise, verdict: Verdict) -> str:
    """Return a line such as `07 LayerNorm: right`."""
    return f"{exercise.code} {exercise.title}: {verdict.status}"


def hint(exercise: Exercise, number: int, verdict: Callable[[], Verdict], command: str) -> str:
    """Return hint 1, 2 or 3 and the command for the next one; or, of the verdict, the changes that make the answer
    right, if any were found."""
    if number == 4:
        found = verdict()
        if found.status != WRONG:
            return line(exercise, found)
        if not found.findings:
            return indented("No small change that makes it right was found. The third hint gives the formula.")
        return "\n\n".join(map(indented, describe_all(found.findings)))
    head = f"{exercise.code} {exercise.title}, hint {number} of 3"
    after = command.format(f"hint {exercise.code} {number + 1}")
    more = f"For the next hint: {after}"
    if number == 3:
        more = f"The last hint. To read: {exercise.chapter}. For the change that makes your answer right: {after}"
    return "\n\n".join([head, indented(exercise.hints[number - 1]), indented(more)])


def indented(text: str, by: str = "  ") -> str:
    """Return the text indented and filled to the terminal's width. Lines with an indent stay as they are."""
    width = min(shutil.get_terminal_size().columns, WIDEST) - len(by)
    wrapper = textwrap.TextWrapper(width, break_on_hyphens=False, break_long_words=False)
    return textwrap.indent(re.sub(r"(?m)^\S.*(\n\S.*)*", lambda lines: wrapper.fill(lines[0]), text), by)


def show(exercise: Exercise, path: Path) -> str:
    """Return the learner's answers, each with the library's below it."""
    text = read_text(path)
    return "\n\n".join(block for blank in exercise.blanks for block in blank.shown(text, path.name))
